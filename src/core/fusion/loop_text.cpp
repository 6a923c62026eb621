// SPDX-License-Identifier: Apache-2.0
// Elements are unsigned integers of their size; only the kernels' functions interpret them. The constants of an
// operation are loaded from memory that is opaque to the compiler: if it saw the values, it would fold operations in
// ways that change the bits of a NaN compared to the kernels.
#include "core/fusion/loop_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace canopy {
namespace {

constexpr const char* beginning = R"(typedef unsigned char u0;
typedef unsigned char u1;
typedef unsigned short __attribute__((aligned(1), may_alias)) u2;
typedef unsigned int __attribute__((aligned(1), may_alias)) u4;
typedef unsigned long __attribute__((aligned(1), may_alias)) u8;
typedef unsigned long __attribute__((vector_size(64), may_alias)) line;
typedef unsigned long __attribute__((vector_size(64), aligned(1), may_alias)) loose_line;

static inline void stream_out(unsigned char* to, const unsigned char* from, unsigned long bytes) {
    unsigned long at = -(unsigned long)to & 63;
    if (at > bytes) at = bytes;
    __builtin_memcpy(to, from, at);
    for (; at + 64 <= bytes; at += 64)
        __builtin_nontemporal_store((line)*(const loose_line*)(from + at), (line*)(to + at));
    __builtin_memcpy(to + at, from + at, bytes - at);
}
)";

// Elements per batch of non-temporal stores: a few registers if all streamed results are line-aligned, else a tile
// buffered in the L1 cache.
constexpr int group = 64, tile = 1024;

using Text = std::back_insert_iterator<std::string>;

struct ShapeText {
    const LoopFlow& flow;
    const LoopShape& shape;
    bool past_caches;

    [[nodiscard]] bool streams(const LoopStore& store) const { return past_caches && store.fresh; }
    [[nodiscard]] bool streams() const {
        for (const LoopStore& store : shape.stores)
            if (streams(store)) return true;
        return false;
    }
    // The compiler's own choice is too narrow for half-precision conversions.
    [[nodiscard]] const char* width() const {
        for (const LoopNode& node : shape.nodes)
            if (node.size == 2) return "vectorize_width(16) interleave_count(2)";
        return "interleave(enable)";
    }
    void write_objects(Text out) const;
    [[nodiscard]] std::string pragma() const {
        return fmt::format("#pragma clang loop vectorize(assume_safety) {}\n", width());
    }
    void write_body(Text out, const char* indent, const char* index, const char* in_tile) const;
    void write_loop(Text out, const char* from, const char* to) const;
    void write_groups(Text out) const;
    void write_tiles(Text out, int elements) const;
    void write(Text out, std::size_t number) const;
};

void ShapeText::write_objects(Text out) const {
    for (std::size_t index = 0; index < shape.nodes.size(); ++index) {
        const std::vector<std::byte>& bytes = shape.nodes[index].object;
        if (bytes.empty()) continue;
        fmt::format_to(out, "    static const unsigned char c{}[] = {{", index);
        for (const std::byte byte : bytes) fmt::format_to(out, "{},", static_cast<int>(byte));
        fmt::format_to(out,
                       "}};\n    const unsigned char* a{0} = c{0};\n    __asm__(\"\" : \"+r\"(a{0}));\n"
                       "    struct {{ _Alignas(16) unsigned char bytes[{1}]; }} o{0};\n"
                       "    __builtin_memcpy(&o{0}, a{0}, {1});\n",
                       index, bytes.size());
    }
}

// `index`: of the element; `in_tile`: its index in the tile of streamed results, or nullptr to store them directly.
void ShapeText::write_body(Text out, const char* indent, const char* index, const char* in_tile) const {
    for (std::size_t number = 0; number < shape.nodes.size(); ++number) {
        const LoopNode& node = shape.nodes[number];
        if (node.is_load) {
            fmt::format_to(out, "{}const u{} v{} = p{}[{}];\n", indent, node.size, number, node.pointer, index);
            continue;
        }
        fmt::format_to(out, "{0}u{1} v{2}; f{3}(&v{2}", indent, node.size, number, node.operation);
        if (node.object.empty())
            fmt::format_to(out, ", 0");
        else
            fmt::format_to(out, ", &o{}", number);
        for (const std::uint32_t source : node.sources) {
            if (source == no_node)
                fmt::format_to(out, ", 0");
            else
                fmt::format_to(out, ", &v{}", source);
        }
        fmt::format_to(out, ", zero);\n");
    }
    for (std::size_t number = 0; number < shape.stores.size(); ++number) {
        const LoopStore& store = shape.stores[number];
        if (in_tile && streams(store))
            fmt::format_to(out, "{}t{}[{}] = v{};\n", indent, number, in_tile, store.node);
        else
            fmt::format_to(out, "{}p{}[{}] = v{};\n", indent, store.pointer, index, store.node);
    }
}

void ShapeText::write_loop(Text out, const char* from, const char* to) const {
    fmt::format_to(out, "{}    for (unsigned long i = {}; i < {}; ++i) {{\n", pragma(), from, to);
    write_body(out, "        ", "i", nullptr);
    fmt::format_to(out, "    }}\n");
}

// Full groups from `head` on, where all streamed results are line-aligned; leaves `head` at the first element left
// over.
void ShapeText::write_groups(Text out) const {
    const LoopStore& leader =
        *std::find_if(shape.stores.begin(), shape.stores.end(), [&](const LoopStore& store) { return streams(store); });
    const int size = shape.pointer_sizes[leader.pointer];
    fmt::format_to(out, "    unsigned long head = (-(unsigned long)p{} & 63) / {};\n", leader.pointer, size);
    fmt::format_to(out, "    if (head > count) head = count;\n    unsigned long off = 0;\n");
    for (const LoopStore& store : shape.stores)
        if (streams(store)) fmt::format_to(out, "    off |= (unsigned long)(p{} + head) & 63;\n", store.pointer);
    fmt::format_to(out, "    if (off != 0) head = 0;\n");
    write_loop(out, "0", "head");
    fmt::format_to(out, "    for (; off == 0 && head + {0} <= count; head += {0}) {{\n", group);
    write_tiles(out, group);
    fmt::format_to(out, "{}        for (unsigned long i = 0; i < {}; ++i) {{\n", pragma(), group);
    write_body(out, "            ", "head + i", "i");
    fmt::format_to(out, "        }}\n");
    for (std::size_t index = 0; index < shape.stores.size(); ++index) {
        const LoopStore& store = shape.stores[index];
        if (!streams(store)) continue;
        fmt::format_to(out,
                       "        for (int l = 0; l < {0}; ++l) __builtin_nontemporal_store(((line*)t{1})[l], "
                       "(line*)(p{2} + head) + l);\n",
                       group * shape.pointer_sizes[store.pointer] / 64, index, store.pointer);
    }
    fmt::format_to(out, "    }}\n");
}

void ShapeText::write_tiles(Text out, int elements) const {
    for (std::size_t index = 0; index < shape.stores.size(); ++index)
        if (streams(shape.stores[index]))
            fmt::format_to(out, "        _Alignas(64) u{} t{}[{}];\n", shape.pointer_sizes[shape.stores[index].pointer],
                           index, elements);
}

void ShapeText::write(Text out, std::size_t number) const {
    fmt::format_to(out, "\nvoid {}(unsigned char* const* pointers, unsigned long count) {{\n", loop_name(number));
    for (std::size_t index = 0; index < shape.pointer_sizes.size(); ++index)
        fmt::format_to(out, "    u{0}* p{1} = (u{0}*)pointers[{1}];\n", shape.pointer_sizes[index], index);
    write_objects(out);
    fmt::format_to(out, "    unsigned zero = 0;\n    __asm__(\"\" : \"+r\"(zero));\n");
    if (!streams()) {
        write_loop(out, "0", "count");
        fmt::format_to(out, "}}\n");
        return;
    }
    write_groups(out);
    fmt::format_to(out,
                   "    for (unsigned long first = head; first < count; first += {0}) {{\n"
                   "        const unsigned long some = count - first < {0} ? count - first : {0};\n",
                   tile);
    write_tiles(out, tile);
    fmt::format_to(out, "{}        for (unsigned long i = 0; i < some; ++i) {{\n", pragma());
    write_body(out, "            ", "first + i", "i");
    fmt::format_to(out, "        }}\n");
    for (std::size_t index = 0; index < shape.stores.size(); ++index) {
        const LoopStore& store = shape.stores[index];
        if (streams(store))
            fmt::format_to(out,
                           "        stream_out((unsigned char*)(p{0} + first), (unsigned char*)t{1}, some * {2});\n",
                           store.pointer, index, shape.pointer_sizes[store.pointer]);
    }
    fmt::format_to(out, "    }}\n    __builtin_ia32_sfence();\n}}\n");
}

}  // namespace

std::string loop_name(std::size_t shape) { return fmt::format("canopy_loop_{}", shape); }

std::string loop_text(const LoopFlow& flow, bool past_caches) {
    std::string text = beginning;
    const Text out = std::back_inserter(text);
    for (std::size_t index = 0; index < flow.operations.size(); ++index)
        fmt::format_to(
            out,
            "extern void f{}(void*, const void*, const void*, const void*, const void*, unsigned) __asm__(\"{}\");\n",
            index, flow.operations[index].symbol);
    for (std::size_t number = 0; number < flow.shapes.size(); ++number)
        ShapeText{flow, flow.shapes[number], past_caches}.write(out, number);
    return text;
}

}  // namespace canopy
