// SPDX-License-Identifier: Apache-2.0
// Sources that test at compile time which kind of core they are compiled for. If their kernels run on both kinds, the
// device text is compiled twice and both results go into one image: every kernel gets an entry that selects by the
// block's core.
#pragma once

#include <string>
#include <vector>

#include "compile/job.h"
#include "compile/kernel.h"

namespace canopy_cc {

// True if one of the files mentions __DAV_C220_VEC__, a similar macro, or g_coreType.
bool tests_core_kind(const std::vector<std::string>& files);

// Definitions for the preprocessor: "-D__DAV_C220_VEC__=1" and so on.
std::vector<std::string> core_kind_flags(std::uint32_t architecture, bool cube);

// The object compiled from the vector or the cube text of one target, with its kernels.
struct Variant {
    std::string path;
    std::vector<KernelDescription> kernels;
};

// Renames the symbols both define and writes an object with the common entries. Fills `objects` with the files to link
// and `kernels` with the kernels of the image. Returns 0, or the exit status of the tool that failed.
int join_variants(const CompileJob& job, const std::string& target, const Variant& vector, const Variant& cube,
                  std::vector<std::string>& objects, std::vector<KernelDescription>& kernels, std::string& messages);

}  // namespace canopy_cc
