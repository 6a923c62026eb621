// SPDX-License-Identifier: Apache-2.0
// Macros with which a header shared by host and kernel lists the arguments of a kernel template and the combinations of
// them that exist. The host packs the arguments into a tiling key: GET_TPL_TILING_KEY. The kernel is a
// template of them, and the launch instantiates the combination of the key.
//
// The kernel language includes this header, so it uses no other one.
#ifndef CANOPY_KERNEL_TILING_TEMPLATE_ARGUMENT_H
#define CANOPY_KERNEL_TILING_TEMPLATE_ARGUMENT_H

#include "../graph/c_types.h"

// Number of bits of an argument in the key, ways to list its values, and kinds of arguments.
#define ASCENDC_TPL_1_BW 1
#define ASCENDC_TPL_2_BW 2
#define ASCENDC_TPL_4_BW 4
#define ASCENDC_TPL_8_BW 8
#define ASCENDC_TPL_UI_RANGE 0
#define ASCENDC_TPL_UI_LIST 1
#define ASCENDC_TPL_UI_MIX 2
#define ASCENDC_TPL_DTYPE 0
#define ASCENDC_TPL_FORMAT 1
#define ASCENDC_TPL_UINT 2
#define ASCENDC_TPL_BOOL 3

namespace canopy::tiling_key {

// A list is one array: the kind of an argument, its name, then its numbers. The kinds that list types hold their text.
enum class Kind { none, combination, dtype, datatype, format, uint, boolean, kernel_type, other, end };

// Stands at the end of a combination, whether or not a comma precedes it.
struct End {};
template <class T>
constexpr T operator+(T value, End) {
    return value;
}
constexpr End operator+(End end) { return end; }

struct Item {
    Kind kind = Kind::none;
    const char* text = nullptr;
    long long number = 0;

    constexpr Item(Kind which) : kind(which) {}
    constexpr Item(End) : kind(Kind::end) {}
    constexpr Item(const char* string) : text(string) {}
    template <class T>
    constexpr Item(T value) : number(static_cast<long long>(value)) {}
};

struct List {
    const Item* begin;
    const Item* end;
};

inline constexpr unsigned long long no_key = ~0ull;

// The numbers of an argument whose kind is at `item`; leaves `item` behind them.
constexpr List numbers_after(const Item*& item, const Item* end) {
    item += 2;
    const Item* first = item;
    while (item != end && item->kind == Kind::none) ++item;
    return {first, item};
}

// Calls `visit` with the index and the value of every number that a UINT argument lists; the first number says how.
template <class Visit>
constexpr void for_each_value(List list, Visit&& visit) {
    if (list.begin == list.end) return;
    const long long how = (list.begin++)->number;
    unsigned long long index = 0;
    if (how != ASCENDC_TPL_UI_LIST && list.begin != list.end) {
        for (long long ranges = (list.begin++)->number; ranges > 0 && list.end - list.begin >= 2; --ranges) {
            const long long first = (list.begin++)->number, last = (list.begin++)->number;
            for (long long value = first; value <= last; ++value) visit(index++, value);
        }
    }
    if (how != ASCENDC_TPL_UI_RANGE)
        while (list.begin != list.end) visit(index++, (list.begin++)->number);
}

// The key of these values, in the order of the declaration. An argument takes 8 bits, a boolean 1 bit and a number its
// declared width, in which its index in the list is stored. no_key if a value or the number of values is wrong.
constexpr unsigned long long key_of(List declared, const long long* values, unsigned long long count) {
    unsigned long long key = 0, used = 0, at = 0;
    for (const Item* item = declared.begin; item != declared.end;) {
        const Kind kind = item->kind;
        List numbers = numbers_after(item, declared.end);
        if (at == count) return no_key;
        auto field = static_cast<unsigned long long>(values[at++]);
        unsigned long long width = kind == Kind::boolean ? 1 : 8;
        if (kind == Kind::uint) {
            if (numbers.begin == numbers.end) return no_key;
            width = static_cast<unsigned long long>((numbers.begin++)->number);
            const auto wanted = static_cast<long long>(field);
            bool found = false;
            for_each_value(numbers, [&](unsigned long long index, long long value) {
                if (value != wanted || found) return;
                found = true;
                field = index;
            });
            if (!found) return no_key;
        }
        if (width == 0 || used + width > 64 || (width < 64 && field >> width != 0)) return no_key;
        key |= field << used;
        used += width;
    }
    return at == count ? key : no_key;
}

template <class... Values>
constexpr unsigned long long key_for(List declared, Values... values) {
    const long long given[sizeof...(Values) + 1] = {static_cast<long long>(values)...};
    return key_of(declared, given, sizeof...(Values));
}

template <unsigned long size>
constexpr List list_of(const Item (&items)[size]) {
    return {items + 1, items + size};
}

}  // namespace canopy::tiling_key

// Each list begins with an item of no meaning, so that a comma may stand at its end.
#define CANOPY_DECLARED_ARGUMENTS(...)                                                           \
    [[maybe_unused]] static constexpr ::canopy::tiling_key::Item canopy_declared_arguments[] = { \
        ::canopy::tiling_key::Kind::none, __VA_ARGS__}

#if defined(CANOPY_KERNEL_ENTRY_H) && !defined(CANOPY_KERNEL_HOST_H)

// canopy-cc compiles kernels.
#define ASCENDC_TPL_ARGS_DECL(op, ...) CANOPY_DECLARED_ARGUMENTS(__VA_ARGS__)
#define ASCENDC_TPL_SEL(...) static_assert(true, "")

#else

namespace canopy::tiling_key {

// The lists of a source, for the tool that describes its operators (register/op_def_registry.h).
struct Registered {
    const char* op;
    List declared, selected{};
    Registered* next;
    static inline Registered* first = nullptr;

    Registered(const char* name, List list) : op(name), declared(list), next(first) { first = this; }
};
struct Selected {
    Selected(Registered& of, List list) { of.selected = list; }
};

}  // namespace canopy::tiling_key

#define ASCENDC_TPL_ARGS_DECL(op, ...)                                                    \
    CANOPY_DECLARED_ARGUMENTS(__VA_ARGS__);                                               \
    [[maybe_unused]] static ::canopy::tiling_key::Registered canopy_registered_arguments( \
        #op, ::canopy::tiling_key::list_of(canopy_declared_arguments))
#define ASCENDC_TPL_SEL(...)                                                                     \
    [[maybe_unused]] static constexpr ::canopy::tiling_key::Item canopy_selected_arguments[] = { \
        ::canopy::tiling_key::Kind::none, __VA_ARGS__};                                          \
    [[maybe_unused]] static ::canopy::tiling_key::Selected canopy_registered_selection(          \
        canopy_registered_arguments, ::canopy::tiling_key::list_of(canopy_selected_arguments))

#endif

#define GET_TPL_TILING_KEY(...) \
    ::canopy::tiling_key::key_for(::canopy::tiling_key::list_of(canopy_declared_arguments), __VA_ARGS__)
#define ASCENDC_TPL_SEL_PARAM(context, ...) (context)->SetTilingKey(GET_TPL_TILING_KEY(__VA_ARGS__))

#define ASCENDC_TPL_ARGS_SEL(...) ::canopy::tiling_key::Kind::combination, "", __VA_ARGS__ + ::canopy::tiling_key::End()
#define ASCENDC_TPL_DATATYPE_DECL(name, ...) ::canopy::tiling_key::Kind::datatype, #name, #__VA_ARGS__
#define ASCENDC_TPL_DATATYPE_SEL(name, ...) ::canopy::tiling_key::Kind::datatype, #name, #__VA_ARGS__
#define ASCENDC_TPL_DTYPE_DECL(name, ...) ::canopy::tiling_key::Kind::dtype, #name, #__VA_ARGS__
#define ASCENDC_TPL_DTYPE_SEL(name, ...) ::canopy::tiling_key::Kind::dtype, #name, #__VA_ARGS__
#define ASCENDC_TPL_FORMAT_DECL(name, ...) ::canopy::tiling_key::Kind::format, #name, #__VA_ARGS__
#define ASCENDC_TPL_FORMAT_SEL(name, ...) ::canopy::tiling_key::Kind::format, #name, #__VA_ARGS__
#define ASCENDC_TPL_UINT_DECL(name, bits, ...) ::canopy::tiling_key::Kind::uint, #name, bits, __VA_ARGS__
#define ASCENDC_TPL_UINT_SEL(name, ...) ::canopy::tiling_key::Kind::uint, #name, __VA_ARGS__
#define ASCENDC_TPL_BOOL_DECL(name, ...) ::canopy::tiling_key::Kind::boolean, #name, __VA_ARGS__
#define ASCENDC_TPL_BOOL_SEL(name, ...) ::canopy::tiling_key::Kind::boolean, #name, __VA_ARGS__
#define ASCENDC_TPL_KERNEL_TYPE_DECL(name, ...) ::canopy::tiling_key::Kind::kernel_type, #name, #__VA_ARGS__
// What concerns a combination as a whole: no argument of the template.
#define ASCENDC_TPL_KERNEL_TYPE_SEL(...) ::canopy::tiling_key::Kind::other, "kernel type", #__VA_ARGS__
#define ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL(name, ...) ::canopy::tiling_key::Kind::other, #name, #__VA_ARGS__
#define ASCENDC_TPL_TILING_STRUCT_SEL(...) ::canopy::tiling_key::Kind::other, "tiling", #__VA_ARGS__
#define ASCENDC_TPL_DETERMINISTIC_SEL(...) ::canopy::tiling_key::Kind::other, "deterministic", #__VA_ARGS__

#endif
