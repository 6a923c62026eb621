// SPDX-License-Identifier: Apache-2.0
#include "foundation/packing.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace canopy {
namespace {

constexpr std::uint64_t any_size = 1 << 20;

TEST(Packing, TextsComeBack) {
    std::string repeated;
    for (int line = 0; line < 500; ++line) repeated += "inline void function_" + std::to_string(line) + "();\n";
    std::string noise(5000, '\0');
    std::mt19937 random(1);
    for (char& letter : noise) letter = static_cast<char>(random());
    for (const std::string& text : {std::string(), std::string("a"), std::string(3000, 'a'), repeated, noise,
                                    noise + repeated + noise + "the end"})
        EXPECT_EQ(unpack(pack(text), any_size), text);
    EXPECT_LT(pack(repeated).size(), repeated.size() / 3);
    EXPECT_LT(pack(noise).size(), noise.size() + 10);
}

TEST(Packing, LongTextsAreRefused) {
    EXPECT_FALSE(unpack(pack(std::string(1001, 'a')), 1000));
    EXPECT_TRUE(unpack(pack(std::string(1000, 'a')), 1000));
}

// What comes out of damaged bytes may be another text, but it has the size that they say.
TEST(Packing, DamagedBytesDoNoHarm) {
    std::string text;
    for (int word = 0; word < 100; ++word) text += "word " + std::to_string(word % 7) + ", ";
    const std::vector<std::byte> packed = pack(text);
    for (std::size_t size = 0; size < packed.size(); ++size) EXPECT_FALSE(unpack({packed.data(), size}, any_size));
    for (std::size_t at = 0; at < packed.size(); ++at) {
        for (const int bit : {0, 3, 7}) {
            std::vector<std::byte> damaged = packed;
            damaged[at] ^= static_cast<std::byte>(1 << bit);
            if (const auto unpacked = unpack(damaged, any_size)) EXPECT_LE(unpacked->size(), any_size);
        }
    }
}

}  // namespace
}  // namespace canopy
