// SPDX-License-Identifier: Apache-2.0
#include "compile/sanitizer.h"

namespace canopy_cc {

std::vector<std::string> sanitizer_flags() {
    return {"-fsanitize=bounds,null,object-size,integer-divide-by-zero,unreachable,return,vla-bound",
            "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-Wno-invalid-command-line-argument"};
}

// The layouts are those of clang's own sanitizer runtime.
std::string sanitizer_text() {
    return R"(
# 1 "<canopy-cc>" 3
namespace canopy::sanitizer {
struct Place { const char* file; unsigned line, column; };
struct Type { unsigned short kind, information; char name[1]; };
struct Bounds { Place place; const Type* array; const Type* index; };
struct Mismatch { Place place; const Type* type; unsigned char alignment, kind; };
struct Typed { Place place; const Type* type; };
[[noreturn]] __attribute__((cold, noinline, nodebug, no_sanitize("undefined"), format(printf, 2, 3)))
static void report(const Place& place, const char* format, ...) {
    char text[512];
    int length = __builtin_snprintf(text, sizeof text, "%s:%u:%u: ", place.file, place.line, place.column);
    __builtin_va_list arguments;
    __builtin_va_start(arguments, format);
    if (length > 0 && length < (int)sizeof text)
        length += __builtin_vsnprintf(text + length, sizeof text - length, format, arguments);
    __builtin_va_end(arguments);
    canopy_image_services->fail(text, length < 0 ? 0 : length < (int)sizeof text ? length : sizeof text - 1);
    __builtin_trap();
}
static const char* const kinds[] = {"load of", "store to", "reference to", "access to a member of", "call on",
                                    "construction of", "cast of", "cast of", "cast of", "cast of", "cast of"};
}
extern "C" {
#pragma clang attribute push(__attribute__((no_sanitize("undefined"))), apply_to = function)
[[noreturn]] void __ubsan_handle_out_of_bounds_abort(canopy::sanitizer::Bounds* data, unsigned long index) {
    canopy::sanitizer::report(data->place, "index %ld is outside of the array %s", (long)index, data->array->name);
}
[[noreturn]] void __ubsan_handle_type_mismatch_v1_abort(canopy::sanitizer::Mismatch* data, unsigned long pointer) {
    const char* kind = data->kind < 11 ? canopy::sanitizer::kinds[data->kind] : "use of";
    if (pointer == 0) canopy::sanitizer::report(data->place, "%s %s through a null pointer", kind, data->type->name);
    canopy::sanitizer::report(data->place, "%s %s at %p, outside of the object", kind, data->type->name, (void*)pointer);
}
[[noreturn]] void __ubsan_handle_divrem_overflow_abort(canopy::sanitizer::Typed* data, unsigned long, unsigned long) {
    canopy::sanitizer::report(data->place, "division by zero");
}
[[noreturn]] void __ubsan_handle_vla_bound_not_positive_abort(canopy::sanitizer::Typed* data, unsigned long bound) {
    canopy::sanitizer::report(data->place, "an array of %ld elements", (long)bound);
}
[[noreturn]] void __ubsan_handle_builtin_unreachable(canopy::sanitizer::Place* place) {
    canopy::sanitizer::report(*place, "unreachable code was reached");
}
[[noreturn]] void __ubsan_handle_missing_return(canopy::sanitizer::Place* place) {
    canopy::sanitizer::report(*place, "a function ended without returning a value");
}
#pragma clang attribute pop
}
)";
}

std::string sanitizer_host_text() {
    return R"(
# 1 "<canopy-cc>" 3
extern "C" int setenv(const char*, const char*, int) noexcept;
namespace {
__attribute__((constructor(101), nodebug)) void canopy_watch_memory() { setenv("CANOPY_CHECK", "1", 0); }
}
)";
}

}  // namespace canopy_cc
