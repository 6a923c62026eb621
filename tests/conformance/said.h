// SPDX-License-Identifier: Apache-2.0
// What a piece of a test says on the standard error.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "fixture.h"

namespace conformance {

// The lines that the library writes while `body` runs.
template <class Body>
std::vector<std::string> lines_said(Body&& body) {
    const int before = dup(STDERR_FILENO);
    const int file = memfd_create("said", MFD_CLOEXEC);
    EXPECT_GE(file, 0);
    dup2(file, STDERR_FILENO);
    body();
    dup2(before, STDERR_FILENO);
    close(before);
    std::string text(static_cast<std::size_t>(lseek(file, 0, SEEK_END)), '\0');
    EXPECT_EQ(pread(file, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    close(file);
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string line = text.substr(at, end - at);
        if (line.starts_with("canopy: ")) lines.push_back(std::move(line));
        at = end + 1;
    }
    return lines;
}

}  // namespace conformance
