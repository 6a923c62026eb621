// SPDX-License-Identifier: Apache-2.0
#include "foundation/problem.h"

namespace canopy {

std::string join(std::initializer_list<MessagePart> parts) {
    std::size_t size = 0;
    for (const MessagePart& part : parts) size += part.text().size();
    std::string text;
    text.reserve(size);
    for (const MessagePart& part : parts) text += part.text();
    return text;
}

}  // namespace canopy
