// SPDX-License-Identifier: Apache-2.0
// Dump files: what is written is read again, and nothing that a file says is believed. Element types and statistics.
#include "dump/dump_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <fstream>

#include "dump/elements.h"
#include "foundation/files.h"

namespace canopy::dump {
namespace {

DumpHead example() {
    DumpHead head;
    head.time = 1'700'000'000'000'000;
    head.operator_name = "add";
    head.message = "what failed";
    head.attributes = {{"block", "2"}, {"empty", ""}};
    head.inputs = {{1, 2, {2, 3}, {6}, 24, 0x7fff'0000'1000, 16, 0}, {-1, 0, {}, {}, 0, 0, 0, 3}};
    head.outputs = {{27, 2, {4}, {4}, 8, 0xFFFF'FFFF'FFFF'FFFF, 0, 300}};
    head.buffers = {{1, 5, 0}};
    head.workspaces = {{2, 7, 9}};
    return head;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }
Expected<DumpHead> decoded(const DumpHead& head) { return decode(bytes_of(encode(head)).subspan(length_size)); }

void expect_same(const Tensor& one, const Tensor& other) {
    EXPECT_EQ(one.data_type, other.data_type);
    EXPECT_EQ(one.format, other.format);
    EXPECT_EQ(one.shape, other.shape);
    EXPECT_EQ(one.original_shape, other.original_shape);
    EXPECT_EQ(one.size, other.size);
    EXPECT_EQ(one.address, other.address);
    EXPECT_EQ(one.offset, other.offset);
    EXPECT_EQ(one.argument_index, other.argument_index);
}

TEST(DumpFormat, WhatIsWrittenIsRead) {
    const DumpHead head = example();
    const Expected<DumpHead> read = decoded(head);
    ASSERT_TRUE(read.ok()) << read.message();
    const DumpHead& again = read.value();
    EXPECT_EQ(again.version, "2.0");
    EXPECT_EQ(again.time, head.time);
    EXPECT_EQ(again.operator_name, "add");
    EXPECT_EQ(again.message, "what failed");
    ASSERT_EQ(again.attributes.size(), 2u);
    EXPECT_EQ(again.attributes[0].name + again.attributes[0].value, "block2");
    ASSERT_EQ(again.inputs.size(), 2u);
    ASSERT_EQ(again.outputs.size(), 1u);
    for (std::size_t index = 0; index < 2; ++index) expect_same(again.inputs[index], head.inputs[index]);
    expect_same(again.outputs[0], head.outputs[0]);
    EXPECT_EQ(again.buffers.at(0).size, 5u);
    EXPECT_EQ(again.workspaces.at(0).argument_index, 9u);
    EXPECT_EQ(data_size(again), 24u + 8 + 5 + 7);
}

TEST(DumpFormat, EveryShorterHeadIsRefusedOrSmaller) {
    const std::string whole = encode(example());
    const auto bytes = bytes_of(whole).subspan(length_size);
    for (std::size_t size = 0; size < bytes.size(); ++size)
        if (const Expected<DumpHead> read = decode(bytes.first(size)); read.ok())
            EXPECT_EQ(encode(read.value()).size(), size + length_size);
}

TEST(DumpFormat, NumbersThatAreTooLongAreRefused) {
    const std::string version(
        "\x0a\x03"
        "2.0",
        5);
    EXPECT_TRUE(decode(bytes_of(version)).ok());
    EXPECT_TRUE(decode(bytes_of(version + "\x10" + std::string(9, '\xff') + '\1')).ok());
    EXPECT_FALSE(decode(bytes_of(version + "\x10" + std::string(9, '\xff') + '\2')).ok());
    EXPECT_FALSE(decode(bytes_of(version + "\x10" + std::string(10, '\xff') + '\1')).ok());
    EXPECT_FALSE(decode(bytes_of(version + "\x22\x7f")).ok()) << "an input longer than the head";
    EXPECT_FALSE(decode(bytes_of(version + std::string("\0\0", 2))).ok()) << "field 0";
    EXPECT_FALSE(decode(bytes_of(version + "\x13")).ok()) << "a group";
    EXPECT_TRUE(decode(bytes_of(version + "\xa9\x06" + std::string(8, 'x') + "\xad\x06" + "1234")).ok())
        << "unknown fields of 8 and 4 bytes";
}

TEST(DumpFormat, HeadsThatListTooMuchAreRefused) {
    DumpHead head;
    head.inputs.resize(most_parts - 1);
    head.workspaces.resize(1);
    EXPECT_TRUE(decoded(head).ok());
    head.outputs.resize(1);
    EXPECT_NE(decoded(head).message().find("more than 4096"), std::string::npos);
    head = example();
    head.inputs[0].shape.assign(most_dimensions, 1);
    EXPECT_TRUE(decoded(head).ok());
    head.inputs[0].shape.push_back(1);
    EXPECT_NE(decoded(head).message().find("field 4"), std::string::npos);
}

TEST(DumpFormat, SizesThatOverflowAddUpToTheLargestNumber) {
    DumpHead head = example();
    head.inputs[0].size = head.inputs[1].size = UINT64_MAX;
    EXPECT_EQ(data_size(head), UINT64_MAX);
}

class DumpFileTest : public testing::Test {
protected:
    std::string write(const std::string& content) {
        const std::string path = folder_->path() + "/dump";
        std::ofstream(path, std::ios::binary) << content;
        return path;
    }
    std::string message_of(const std::string& content) { return DumpFile::open(write(content)).message(); }

    Expected<TemporaryFolder> folder_ = TemporaryFolder::create("dump-test");
};

TEST_F(DumpFileTest, PartsLieBehindEachOther) {
    const std::string path = write(encode(example()) + std::string(24, 'i') + "outputs!" + "buffe" + "workspa");
    Expected<DumpFile> file = DumpFile::open(path);
    ASSERT_TRUE(file.ok()) << file.message();
    ASSERT_EQ(file->parts().size(), 5u);
    const char* contents[] = {"iiiiiiiiiiiiiiiiiiiiiiii", "", "outputs!", "buffe", "workspa"};
    for (std::size_t index = 0; index < 5; ++index) {
        std::string content(file->parts()[index].size, '\0');
        EXPECT_FALSE(file->read(file->parts()[index], 0, std::as_writable_bytes(std::span(content))));
        EXPECT_EQ(content, contents[index]);
    }
    std::byte two[2];
    EXPECT_TRUE(file->read(file->parts()[3], 4, two));
    EXPECT_TRUE(file->read(file->parts()[3], UINT64_MAX, two));
    ASSERT_EQ(truncate(path.c_str(), 100), 0);
    EXPECT_TRUE(file->read(file->parts()[4], 0, two)) << "the file became shorter";
}

TEST_F(DumpFileTest, OtherFilesAreRefused) {
    const std::string head = encode(example());
    EXPECT_NE(message_of("").find("not a dump"), std::string::npos);
    EXPECT_NE(message_of(std::string(8, '\xff')).find("not a dump"), std::string::npos);
    EXPECT_NE(message_of(std::string(8, '\0')).find("no version"), std::string::npos);
    EXPECT_NE(message_of(head.substr(0, 20)).find("cut off"), std::string::npos);
    EXPECT_NE(message_of(head + "data").find("cut off"), std::string::npos);
    EXPECT_NE(DumpFile::open("/no/such/dump").message().find("cannot open"), std::string::npos);
    EXPECT_NE(DumpFile::open(folder_->path()).message().find("not a file"), std::string::npos);
    const std::string pipe = folder_->path() + "/pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_NE(DumpFile::open(pipe).message().find("not a file"), std::string::npos);
}

TEST(DumpElements, TypesOfParameters) {
    EXPECT_EQ(type_of_pointer("float *"), 1);
    EXPECT_EQ(type_of_pointer(" const unsigned char *"), 4);
    EXPECT_EQ(type_of_pointer("const volatile __bf16 *"), 27);
    EXPECT_EQ(type_of_pointer("int"), unknown_type);
    EXPECT_EQ(type_of_pointer("Thing *"), unknown_type);
    EXPECT_EQ(type_of_pointer("float **"), unknown_type);
    EXPECT_EQ(element_type_of_acl(27)->name, "bfloat16");
    EXPECT_EQ(element_type("float16")->acl, 1);
    EXPECT_EQ(element_type(99), nullptr);
    EXPECT_EQ(element_type_of_acl(99), nullptr);
}

TEST(DumpElements, StatisticsLeaveOutWhatIsNotFinite) {
    const float values[] = {1, -3, INFINITY, -INFINITY, NAN, 2};
    Statistics all(1);
    all.add(std::as_bytes(std::span(values)).first(23));  // the last one is not whole
    EXPECT_EQ(all.count(), 5u);
    EXPECT_EQ(all.largest(), 1);
    EXPECT_EQ(all.smallest(), -3);
    EXPECT_EQ(all.average(), -1);
    EXPECT_DOUBLE_EQ(all.norm(), std::sqrt(10.0));
    EXPECT_EQ(all.nan_count() + all.negative_infinities() + all.positive_infinities(), 3u);
    EXPECT_FALSE(Statistics(1).has_values());
}

TEST(DumpElements, EveryTypeHasValuesAndText) {
    const std::uint64_t words[2] = {0x3F80'0000'3C00'0001, 0};
    const auto bytes = std::as_bytes(std::span(words));
    for (std::int32_t number = 0; number < 30; ++number) {
        const ElementType* type = element_type(number);
        if (!type) continue;
        Statistics all(number);
        all.add(bytes.first(type->size));
        EXPECT_EQ(all.count(), 1u) << type->name;
        EXPECT_FALSE(element_text(number, bytes).empty()) << type->name;
    }
    EXPECT_EQ(element_text(5, bytes), "1");
    EXPECT_EQ(element_text(8, bytes), "4575657222415056897");
    const std::uint16_t halves[] = {0x3C00, 0x7C00, 0xFC00, 0x7E00};
    const char* texts[] = {"1", "inf", "-inf", "nan"};
    for (std::size_t index = 0; index < 4; ++index)
        EXPECT_EQ(element_text(2, std::as_bytes(std::span(halves).subspan(index))), texts[index]);
}

}  // namespace
}  // namespace canopy::dump
