// SPDX-License-Identifier: Apache-2.0
#include "profile/page_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace canopy::profile {
namespace {

constexpr std::size_t written_at_once = 256 * 1024;
constexpr int page_compression = 6;
constexpr char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

struct PageStream::Deflater {
    z_stream stream{};
    bool ready = false;
    std::array<unsigned char, 64 * 1024> out;
    Deflater() { ready = deflateInit(&stream, page_compression) == Z_OK; }
    ~Deflater() {
        if (ready) deflateEnd(&stream);
    }
};

PageStream::PageStream(std::string path, int file)
    : path_(std::move(path)), file_(file), deflater_(std::make_unique<Deflater>()) {
    if (!deflater_->ready) problem_ = Problem{path_, ": no memory to compress"};
}

Expected<PageStream> PageStream::create(const std::string& path) {
    struct stat there {};
    if (::lstat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISLNK(there.st_mode))
        return Problem{path, ": is there and is not a file"};
    // Another user's file, or a link of theirs, is not written to.
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return Problem{path, ": ", std::strerror(errno)};
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return Problem{path, ": ", std::strerror(errno)};
    return PageStream(path, file);
}

PageStream::PageStream(PageStream&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      problem_(std::move(other.problem_)),
      text_(std::move(other.text_)),
      deflater_(std::move(other.deflater_)),
      rest_size_(other.rest_size_) {
    std::memcpy(rest_, other.rest_, sizeof rest_);
}

PageStream::~PageStream() {
    if (file_ < 0) return;
    ::close(file_);
    ::unlink(path_.c_str());
}

void PageStream::flush() {
    std::string_view left = text_;
    while (!left.empty() && !problem_) {
        const ssize_t written = ::write(file_, left.data(), left.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0)
            problem_ = Problem{path_, ": ", std::strerror(errno)};
        else
            left.remove_prefix(static_cast<std::size_t>(written));
    }
    text_.clear();
}

void PageStream::text(std::string_view text) {
    text_ += text;
    if (text_.size() >= written_at_once) flush();
}

void PageStream::base64(std::span<const unsigned char> bytes, bool last) {
    const auto put = [this](unsigned value, std::size_t size) {
        for (std::size_t i = 0; i < 4; ++i) text_ += i <= size ? base64_digits[(value >> (18 - 6 * i)) & 63] : '=';
    };
    for (const unsigned char byte : bytes) {
        rest_[rest_size_++] = byte;
        if (rest_size_ < 3) continue;
        put(unsigned{rest_[0]} << 16 | unsigned{rest_[1]} << 8 | rest_[2], 3);
        rest_size_ = 0;
    }
    if (last && rest_size_ != 0) {
        put(unsigned{rest_[0]} << 16 | (rest_size_ == 2 ? unsigned{rest_[1]} << 8 : 0), rest_size_);
        rest_size_ = 0;
    }
    if (text_.size() >= written_at_once) flush();
}

void PageStream::deflate_some(bool last) {
    z_stream& stream = deflater_->stream;
    do {
        stream.next_out = deflater_->out.data();
        stream.avail_out = static_cast<uInt>(deflater_->out.size());
        deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
        base64(std::span(deflater_->out).first(deflater_->out.size() - stream.avail_out), false);
    } while (stream.avail_out == 0 && !problem_);
}

void PageStream::compressed(std::span<const std::byte> bytes) {
    constexpr std::size_t most = std::size_t{1} << 30;
    while (!bytes.empty() && !problem_) {
        const auto some = bytes.first(std::min(bytes.size(), most));
        deflater_->stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(some.data()));
        deflater_->stream.avail_in = static_cast<uInt>(some.size());
        deflate_some(false);
        bytes = bytes.subspan(some.size());
    }
}

void PageStream::end_compressed() {
    if (problem_) return;
    deflate_some(true);
    base64({}, true);
}

Problem PageStream::close() {
    flush();
    const int file = std::exchange(file_, -1);
    if (::close(file) != 0 && !problem_) problem_ = Problem{path_, ": ", std::strerror(errno)};
    if (problem_) ::unlink(path_.c_str());
    return problem_;
}

}  // namespace canopy::profile
