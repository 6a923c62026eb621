// SPDX-License-Identifier: Apache-2.0
#include "profile/text_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace canopy::profile {
namespace {

constexpr std::size_t buffer_size = std::size_t{256} << 10;
constexpr int compression_level = 4;  // half the time of the default level for a tenth more bytes

}  // namespace

class TextOutput::Compressor {
public:
    Compressor() : out_(buffer_size) {
        // 16: with the header of gzip.
        ready_ = deflateInit2(&stream_, compression_level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    }
    ~Compressor() {
        if (ready_) deflateEnd(&stream_);
    }
    Compressor(const Compressor&) = delete;
    Compressor& operator=(const Compressor&) = delete;

    // Calls write(bytes) for what comes out.
    template <class Write>
    bool compress(std::string_view text, bool last, Write&& write) {
        if (!ready_) return false;
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
        stream_.avail_in = static_cast<uInt>(text.size());
        do {
            stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
            stream_.avail_out = static_cast<uInt>(out_.size());
            if (deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR) return false;
            write(std::string_view(out_.data(), out_.size() - stream_.avail_out));
        } while (stream_.avail_out == 0);
        return true;
    }

private:
    z_stream stream_{};
    std::vector<char> out_;
    bool ready_ = false;
};

Expected<TextOutput> TextOutput::create(const std::string& path) {
    // A device or a pipe is written to; a file is replaced, so that another's file, or a link of theirs, is not.
    struct stat existing {};
    const bool in_place = ::stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode);
    if (!in_place && ::unlink(path.c_str()) != 0 && errno != ENOENT) return Problem{path, ": ", std::strerror(errno)};
    const int how = in_place ? 0 : O_CREAT | O_EXCL | O_NOFOLLOW;
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | how, 0600);
    if (file < 0) return Problem{path, ": ", std::strerror(errno)};
    return TextOutput(path, file, !in_place);
}

TextOutput::TextOutput(std::string path, int file, bool removable)
    : path_(std::move(path)), file_(file), removable_(removable), buffer_(buffer_size) {
    if (path_.ends_with(".gz")) compressor_ = std::make_unique<Compressor>();
}

TextOutput::TextOutput(TextOutput&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      removable_(other.removable_),
      buffer_(std::move(other.buffer_)),
      used_(std::exchange(other.used_, 0)),
      flushed_(other.flushed_),
      problem_(std::move(other.problem_)),
      compressor_(std::move(other.compressor_)) {}

TextOutput::~TextOutput() { discard(); }

void TextOutput::discard() noexcept {
    if (file_ < 0) return;
    ::close(std::exchange(file_, -1));
    if (removable_) ::unlink(path_.c_str());
}

void TextOutput::write(std::string_view bytes) {
    while (!bytes.empty() && !problem_) {
        const ssize_t written = ::write(file_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            problem_ = Problem{path_, ": ", std::strerror(errno)};
            return;
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
}

void TextOutput::flush() {
    const std::string_view text(buffer_.data(), used_);
    flushed_ += used_;
    used_ = 0;
    if (problem_) return;
    if (!compressor_) return write(text);
    if (!compressor_->compress(text, false, [&](std::string_view bytes) { write(bytes); }) && !problem_)
        problem_ = Problem{path_, ": no memory to compress it"};
}

void TextOutput::microseconds(std::int64_t nanoseconds) {
    char* const place = room(32);
    char* end = place;
    std::uint64_t value = static_cast<std::uint64_t>(nanoseconds);
    if (nanoseconds < 0) {
        *end++ = '-';
        value = 0 - value;
    }
    end = std::to_chars(end, place + 32, value / 1000).ptr;
    const auto rest = static_cast<unsigned>(value % 1000);
    *end++ = '.';
    *end++ = static_cast<char>('0' + rest / 100);
    *end++ = static_cast<char>('0' + rest / 10 % 10);
    *end++ = static_cast<char>('0' + rest % 10);
    used_ += static_cast<std::size_t>(end - place);
}

Problem TextOutput::finish() {
    flush();
    if (compressor_ && !problem_ && !compressor_->compress({}, true, [&](std::string_view bytes) { write(bytes); }))
        problem_ = Problem{path_, ": no memory to compress it"};
    if (problem_) {
        discard();
        return problem_;
    }
    if (::close(std::exchange(file_, -1)) != 0) {
        problem_ = Problem{path_, ": ", std::strerror(errno)};
        if (removable_) ::unlink(path_.c_str());
    }
    return problem_;
}

}  // namespace canopy::profile
