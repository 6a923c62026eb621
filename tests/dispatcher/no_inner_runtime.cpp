// SPDX-License-Identifier: Apache-2.0
// A shared object without the functions of an inner runtime.
extern "C" int nothing_to_run() { return 0; }
