// SPDX-License-Identifier: Apache-2.0
// Sources that ask at compile time which kind of core they are compiled for. When their kernels run on both kinds, the
// device text is compiled twice and both results go into one image: every kernel gets an entry that asks the block.
#pragma once

#include <string>
#include <vector>

#include "compile/job.h"
#include "compile/kernel.h"

namespace canopy_cc {

// Whether one of the files mentions __DAV_C220_VEC__, a relative of it, or g_coreType.
bool tests_core_kind(const std::vector<std::string>& files);

// Definitions for the preprocessor: "-D__DAV_C220_VEC__=1" and so on.
std::vector<std::string> core_kind_flags(std::uint32_t architecture, bool cube);

// Two objects of one target, of the vector and the cube text, with their kernels.
struct Variant {
    std::string path;
    std::vector<KernelDescription> kernels;
};

// Renames what both define and writes an object with the common entries; fills `objects` with what is to be linked and
// `kernels` with those of the image. Returns 0, or the exit status of the tool that failed.
int join_variants(const CompileJob& job, const std::string& target, const Variant& vector, const Variant& cube,
                  std::vector<std::string>& objects, std::vector<KernelDescription>& kernels, std::string& messages);

}  // namespace canopy_cc
