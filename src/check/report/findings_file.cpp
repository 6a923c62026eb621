// SPDX-License-Identifier: Apache-2.0
#include "check/report/findings_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

namespace canopy::check {

namespace {

constexpr mode_t file_mode = 0666;

// An open file with its lock, which ends with it.
class LockedFile {
public:
    explicit LockedFile(const std::string& path)
        : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, file_mode)) {
        // A pipe, say, can only be written.
        if (file_ < 0) file_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
        if (file_ < 0) return;
        struct stat facts {};
        regular_ = ::fstat(file_, &facts) == 0 && S_ISREG(facts.st_mode);
        while (regular_ && ::flock(file_, LOCK_EX) != 0 && errno == EINTR) {
        }
    }
    ~LockedFile() {
        if (file_ >= 0) ::close(file_);
    }
    LockedFile(const LockedFile&) = delete;
    LockedFile& operator=(const LockedFile&) = delete;

    [[nodiscard]] bool ok() const noexcept { return file_ >= 0; }
    [[nodiscard]] bool regular() const noexcept { return regular_; }

    bool read(std::string& text) {
        char part[1 << 16];
        for (;;) {
            const ssize_t got = ::read(file_, part, sizeof part);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return got == 0;
            text.append(part, static_cast<std::size_t>(got));
        }
    }
    bool write_at_end(std::string_view text) { return (!regular_ || ::lseek(file_, 0, SEEK_END) >= 0) && write(text); }
    bool replace(std::string_view text) {
        return ::lseek(file_, 0, SEEK_SET) == 0 && write(text) &&
               ::ftruncate(file_, static_cast<off_t>(text.size())) == 0;
    }

private:
    bool write(std::string_view text) {
        while (!text.empty()) {
            const ssize_t put = ::write(file_, text.data(), text.size());
            if (put < 0 && errno != EINTR) return false;
            if (put > 0) text.remove_prefix(static_cast<std::size_t>(put));
        }
        return true;
    }

    int file_;
    bool regular_ = false;
};

Problem refused(const std::string& path) { return {path, " cannot be written: ", std::strerror(errno)}; }

// The next line with its end.
std::string_view next_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    return line;
}

}  // namespace

Problem append_lines(const std::string& path, std::string_view text) {
    LockedFile file(path);
    return file.ok() && file.write_at_end(text) ? Problem() : refused(path);
}

Problem append_missing_lines(const std::string& path, std::string_view text) {
    LockedFile file(path);
    std::string content, missing;
    if (!file.ok() || (file.regular() && !file.read(content))) return refused(path);
    if (!content.empty() && !content.ends_with('\n')) missing = "\n";
    std::set<std::string, std::less<>> present;
    for (std::string_view rest = content; !rest.empty();) {
        std::string line(next_line(rest));
        if (!line.ends_with('\n')) line += '\n';
        present.insert(std::move(line));
    }
    for (std::string_view rest = text; !rest.empty();)
        if (const std::string_view line = next_line(rest); present.emplace(line).second) missing += line;
    return file.write_at_end(missing) ? Problem() : refused(path);
}

Problem replace_lines(const std::string& path, std::string_view start, std::string_view text,
                      std::string_view otherwise) {
    LockedFile file(path);
    if (!file.ok()) return refused(path);
    if (!file.regular()) return file.write_at_end(otherwise) ? Problem() : refused(path);
    std::string content, kept;
    if (!file.read(content)) return refused(path);
    for (std::string_view rest = content; !rest.empty();)
        if (const std::string_view line = next_line(rest); !line.starts_with(start)) kept += line;
    return file.replace(kept.append(text)) ? Problem() : refused(path);
}

}  // namespace canopy::check
