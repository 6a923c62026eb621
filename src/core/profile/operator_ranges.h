// SPDX-License-Identifier: Apache-2.0
// Operators with their tensors, which frameworks attach to the launches between aclprofRangePushEx and
// aclprofRangePop, and the numbers of texts they use for that. They become ranges of the domain "operators", whose text
// is JSON. Any thread; a range belongs to its thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace canopy {

// A hash of the text, which is kept for `text_of_hash`. UINT64_MAX if there are too many texts.
std::uint64_t hash_text(std::string_view text);
// nullptr if the number is none that `hash_text` returned. The text stays valid.
const std::string* text_of_hash(std::uint64_t hash);

struct OperatorTensor {
    bool output = false;
    std::uint32_t format = 0;
    std::uint32_t data_type = 0;
    std::vector<std::uint32_t> shape;
};
struct OperatorFacts {
    std::uint64_t name = 0, type = 0;  // from hash_text
    std::uint32_t kernel_type = 0, blocks = 0;
    std::vector<OperatorTensor> tensors;
};
void push_operator(const OperatorFacts& facts);
// 500005 if this thread has pushed none.
Status pop_operator();

}  // namespace canopy
