// SPDX-License-Identifier: Apache-2.0
// The definitions of the formatting library fmt, compiled once and linked into everything of ours that formats text.
// fmt comes as headers and as a shared library: with the headers alone every source file compiles the definitions
// again (3.4 s instead of 1 s a file), and the shared library would be one more file beside ours.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// What fmt/core.h and fmt/format.h leave to one file of the program.
template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl<char>(locale_ref) -> char;
template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, string_view, basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);

}  // namespace detail
FMT_END_NAMESPACE
