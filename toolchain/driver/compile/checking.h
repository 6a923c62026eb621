// SPDX-License-Identifier: Apache-2.0
// The checking variant of an image (canopy/kernel_check.h): the device text with one constant turned, compiled once
// more. Its kernels run as usual and also tell a checker what they do. Accesses of the user's own code come from
// clang's instrumentation for race detectors: what it calls is defined in the variant and tells the checker, too.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compile/job.h"

namespace canopy_cc {

// The device text (for vector or cube cores) as checking code; empty if there is none.
std::string checking_text(const Options& options, const std::string& device);

// The options with which that text is compiled, for one target.
Options checking_options(const Options& options, const std::string& target);

// What the variant is made from, for later: the texts and the options that matter, packed.
std::vector<std::byte> packed_texts(const CompileJob& job, const Texts& texts);

struct UnpackedTexts {
    Options options;
    Texts texts;
    std::vector<std::string> shared_variables;
};
// False: the bytes are no such texts.
bool unpack_texts(const std::vector<std::byte>& bytes, UnpackedTexts& unpacked);

}  // namespace canopy_cc
