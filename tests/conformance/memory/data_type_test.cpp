// SPDX-License-Identifier: Apache-2.0
// Sizes of data types, and half precision.
#include <cmath>
#include <utility>
#include <vector>

#include "fixtures/fixture.h"

namespace conformance {
namespace {

using DataType = RuntimeTest;

TEST_F(DataType, HasASize) {
    const std::vector<std::pair<aclDataType, size_t>> sizes = {
        {ACL_DT_UNDEFINED, 0}, {ACL_FLOAT, 4},       {ACL_FLOAT16, 2},       {ACL_INT8, 1},        {ACL_INT32, 4},
        {ACL_UINT8, 1},        {ACL_INT16, 2},       {ACL_UINT16, 2},        {ACL_UINT32, 4},      {ACL_INT64, 8},
        {ACL_UINT64, 8},       {ACL_DOUBLE, 8},      {ACL_BOOL, 1},          {ACL_STRING, 0},      {ACL_COMPLEX64, 8},
        {ACL_COMPLEX128, 16},  {ACL_BF16, 2},        {ACL_INT4, 1},          {ACL_UINT1, 1},       {ACL_COMPLEX32, 4},
        {ACL_HIFLOAT8, 1},     {ACL_FLOAT8_E5M2, 1}, {ACL_FLOAT8_E4M3FN, 1}, {ACL_FLOAT8_E8M0, 1}, {ACL_FLOAT6_E3M2, 8},
        {ACL_FLOAT6_E2M3, 8},  {ACL_FLOAT4_E2M1, 8}, {ACL_FLOAT4_E1M2, 8}};
    for (const auto& [type, size] : sizes) EXPECT_EQ(aclDataTypeSize(type), size) << type;
    EXPECT_EQ(aclDataTypeSize(static_cast<aclDataType>(999)), 8u);
}

TEST_F(DataType, HalfPrecisionIsFiniteOnly) {
    EXPECT_EQ(aclFloatToFloat16(1.625f), 0x3E80);
    EXPECT_EQ(aclFloat16ToFloat(0x3E80), 1.625f);
    EXPECT_EQ(aclFloat16ToFloat(0x7C00), 65536.0f);
    EXPECT_EQ(aclFloat16ToFloat(0x7E00), 98304.0f);
    EXPECT_EQ(aclFloatToFloat16(INFINITY), 0x7BFF);
    EXPECT_EQ(aclFloatToFloat16(-INFINITY), 0xFBFF);
    EXPECT_EQ(aclFloatToFloat16(NAN), 0x7BFF);
}

}  // namespace
}  // namespace conformance
