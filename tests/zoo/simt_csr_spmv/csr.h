// SPDX-License-Identifier: Apache-2.0
#ifndef CSR_H
#define CSR_H
#include <cstdint>
#include <random>
#include <vector>

struct Csr {
    int rows, cols;
    std::vector<int> ptr, col;
    std::vector<float> val;
};

inline Csr RandomCsr(int rows, int cols, int maxPerRow)
{
    std::mt19937 rng(42);
    Csr m{rows, cols, {0}, {}, {}};
    for (int r = 0; r < rows; r++) {
        int n = rng() % (maxPerRow + 1);
        for (int i = 0; i < n; i++) {
            m.col.push_back(rng() % cols);
            m.val.push_back((int)(rng() % 9) - 4);
        }
        m.ptr.push_back((int)m.col.size());
    }
    return m;
}

// what a kernel gets by value
struct CsrView {
    const int* ptr;
    const int* col;
    const float* val;
    int rows;
};
#endif
