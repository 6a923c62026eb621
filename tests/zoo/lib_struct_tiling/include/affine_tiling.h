/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AFFINE_TILING_H
#define AFFINE_TILING_H
#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

typedef struct {
    float scale;
    float shift;
} AffineCoefficients;

typedef struct {
    uint64_t total;
    uint32_t tile;
    uint16_t dims[4];
    AffineCoefficients coeff[2];   /* nested, for even and odd tiles */
} AffineTiling;

typedef struct {
    int32_t begin;
    int32_t length;
    int32_t step;
} WindowTiling;
#endif
