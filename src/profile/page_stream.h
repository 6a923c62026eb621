// SPDX-License-Identifier: Apache-2.0
// PageStream: a file that is written piece by piece, as text or as bytes that are compressed (zlib) and written in
// base64. After the first failure it writes nothing more.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "foundation/problem.h"

namespace canopy::profile {

class PageStream {
public:
    // Creates the file, for its owner only; replaces one that is there. The destructor removes it unless it was closed.
    static Expected<PageStream> create(const std::string& path);
    PageStream(PageStream&& other) noexcept;
    PageStream& operator=(PageStream&&) = delete;
    ~PageStream();

    void text(std::string_view text);
    void compressed(std::span<const std::byte> bytes);
    void end_compressed();  // once, after the last compressed bytes
    Problem close();

private:
    struct Deflater;
    PageStream(std::string path, int file);
    void deflate_some(bool last);
    void base64(std::span<const unsigned char> bytes, bool last);
    void flush();

    std::string path_;
    int file_ = -1;
    Problem problem_;
    std::string text_;  // not written yet
    std::unique_ptr<Deflater> deflater_;
    unsigned char rest_[3] = {};  // bytes that wait for a third
    std::size_t rest_size_ = 0;
};

}  // namespace canopy::profile
