// SPDX-License-Identifier: Apache-2.0
// What the files of one program share: a structure and a kernel template.
#pragma once

struct Pair {
    int a;
    float b;
};

template <class T>
__global__ __aicore__ void shared_template(int* out) {
    *out = sizeof(T);
}
