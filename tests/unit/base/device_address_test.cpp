// SPDX-License-Identifier: Apache-2.0
// Device addresses: what one can do with them. What one cannot do is in device_address_compile.py.
#include "base/device_address.h"

#include <gtest/gtest.h>

#include <map>
#include <type_traits>
#include <unordered_set>

#include "base/error_text.h"
#include "base/memory_range.h"
#include "device/command.h"
#include "device/opaque_pointer.h"

namespace canopy {
namespace {

static_assert(std::is_trivially_copyable_v<DeviceAddress> && sizeof(DeviceAddress) == 8);
static_assert(!std::is_convertible_v<DeviceAddress, const void*> && !std::is_convertible_v<const void*, DeviceAddress>);
static_assert(!std::is_convertible_v<DeviceAddress, bool> && !std::is_convertible_v<std::uintptr_t, DeviceAddress>);

TEST(DeviceAddressTest, CountsLikeAnAddress) {
    constexpr DeviceAddress first(0x1000);
    constexpr DeviceAddress second = first + 0x20;
    EXPECT_EQ(second.value(), 0x1020u);
    EXPECT_EQ(second - first, 0x20u);
    EXPECT_EQ(second - 0x20, first);
    EXPECT_LT(first, second);
    EXPECT_NE(first, second);
}

TEST(DeviceAddressTest, NullIsFalse) {
    EXPECT_FALSE(DeviceAddress{});
    EXPECT_FALSE(device_address(nullptr));
    EXPECT_TRUE(DeviceAddress(8));
}

TEST(DeviceAddressTest, GoesToADriverAndBack) {
    int word = 0;
    EXPECT_EQ(opaque_pointer(device_address(&word)), &word);
}

TEST(DeviceAddressTest, IsAKeyOfTables) {
    const std::unordered_set<DeviceAddress> set = {DeviceAddress(8), DeviceAddress(16), DeviceAddress(8)};
    EXPECT_EQ(set.size(), 2u);
    const std::map<DeviceAddress, int> map = {{DeviceAddress(16), 2}, {DeviceAddress(8), 1}};
    EXPECT_EQ(map.begin()->second, 1);
}

TEST(DeviceAddressTest, IsPrintedLikeAPointer) {
    EXPECT_EQ(fmt::format("{}", DeviceAddress(0x12ab)), "0x12ab");
    EXPECT_EQ(fmt::format("{}", DeviceAddress{}), fmt::format("{}", static_cast<const void*>(nullptr)));
}

TEST(DeviceRangeTest, HoldsItsBytesAndNoOthers) {
    const DeviceRange range{DeviceAddress(0x1000), 16};
    EXPECT_TRUE(range.contains(DeviceAddress(0x1000)));
    EXPECT_TRUE(range.contains(DeviceAddress(0x100f)));
    EXPECT_FALSE(range.contains(DeviceAddress(0x1010)));
    EXPECT_FALSE(range.contains(DeviceAddress(0xfff)));
    EXPECT_FALSE(DeviceRange{}.contains(DeviceAddress{}));
    EXPECT_EQ(range.bytes_from(DeviceAddress(0x1004)), 12u);
}

TEST(LaunchWorkTest, ArgumentsInPlaceHaveNoPointer) {
    LaunchWork work{};
    const int bytes = 7;
    work.set_arguments(&bytes);
    EXPECT_FALSE(work.arguments_in_place());
    EXPECT_EQ(work.host_arguments(), &bytes);
    EXPECT_EQ(work.arguments(), device_address(&bytes));
    work.set_arguments_in_place(DeviceAddress(0x1000));
    EXPECT_TRUE(work.arguments_in_place());
    EXPECT_EQ(work.host_arguments(), nullptr);
    EXPECT_EQ(work.arguments(), DeviceAddress(0x1000));
}

}  // namespace
}  // namespace canopy
