// SPDX-License-Identifier: Apache-2.0
// Element types, formats and status codes of host code around operators. The numbers are those of aclDataType and
// aclFormat.
#ifndef CANOPY_GRAPH_TYPES_H
#define CANOPY_GRAPH_TYPES_H

#include <cstdint>

namespace ge {

enum DataType {
    DT_FLOAT = 0,
    DT_FLOAT16 = 1,
    DT_INT8 = 2,
    DT_INT32 = 3,
    DT_UINT8 = 4,
    DT_INT16 = 6,
    DT_UINT16 = 7,
    DT_UINT32 = 8,
    DT_INT64 = 9,
    DT_UINT64 = 10,
    DT_DOUBLE = 11,
    DT_BOOL = 12,
    DT_STRING = 13,
    DT_COMPLEX64 = 16,
    DT_COMPLEX128 = 17,
    DT_BF16 = 27,
    DT_UNDEFINED = 28,
    DT_INT4 = 29,
    DT_UINT1 = 30,
    DT_INT2 = 31,
    DT_UINT2 = 32,
    DT_COMPLEX32 = 33,
    DT_HIFLOAT8 = 34,
    DT_FLOAT8_E5M2 = 35,
    DT_FLOAT8_E4M3FN = 36,
    DT_FLOAT8_E8M0 = 37,
    DT_FLOAT6_E3M2 = 38,
    DT_FLOAT6_E2M3 = 39,
    DT_FLOAT4_E2M1 = 40,
    DT_FLOAT4_E1M2 = 41,
    DT_MAX
};

enum Format {
    FORMAT_NCHW = 0,
    FORMAT_NHWC = 1,
    FORMAT_ND = 2,
    FORMAT_NC1HWC0 = 3,
    FORMAT_FRACTAL_Z = 4,
    FORMAT_HWCN = 16,
    FORMAT_NDHWC = 27,
    FORMAT_FRACTAL_NZ = 29,
    FORMAT_NCDHW = 30,
    FORMAT_NDC1HWC0 = 32,
    FORMAT_FRACTAL_Z_3D = 33,
    FORMAT_NCL = 47,
    FORMAT_RESERVED = 63
};

using graphStatus = uint32_t;
constexpr graphStatus GRAPH_SUCCESS = 0;
constexpr graphStatus GRAPH_FAILED = 0xFFFFFFFFu;
constexpr graphStatus GRAPH_PARAM_INVALID = 50331649;

// Bits of one element; 0 if the type has no fixed size.
constexpr int GetSizeInBits(DataType type) {
    switch (type) {
        case DT_UINT1:
            return 1;
        case DT_INT2:
        case DT_UINT2:
            return 2;
        case DT_INT4:
        case DT_FLOAT4_E2M1:
        case DT_FLOAT4_E1M2:
            return 4;
        case DT_FLOAT6_E3M2:
        case DT_FLOAT6_E2M3:
            return 6;
        case DT_INT8:
        case DT_UINT8:
        case DT_BOOL:
        case DT_HIFLOAT8:
        case DT_FLOAT8_E5M2:
        case DT_FLOAT8_E4M3FN:
        case DT_FLOAT8_E8M0:
            return 8;
        case DT_FLOAT16:
        case DT_BF16:
        case DT_INT16:
        case DT_UINT16:
            return 16;
        case DT_FLOAT:
        case DT_INT32:
        case DT_UINT32:
        case DT_COMPLEX32:
            return 32;
        case DT_INT64:
        case DT_UINT64:
        case DT_DOUBLE:
        case DT_COMPLEX64:
            return 64;
        case DT_COMPLEX128:
            return 128;
        default:
            return 0;
    }
}

// Bytes of one element; 0 if it is smaller than a byte.
constexpr int GetSizeByDataType(DataType type) { return GetSizeInBits(type) / 8; }

}  // namespace ge

#endif
