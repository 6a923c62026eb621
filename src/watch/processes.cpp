// SPDX-License-Identifier: Apache-2.0
#include "watch/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "foundation/hash.h"
#include "watch/file_names.h"

namespace canopy::watch {
namespace {

constexpr int attempts = 20;  // to read a page that is being written

class File {
public:
    explicit File(const std::string& path) noexcept
        : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
    ~File() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    bool read(void* to, std::size_t size, std::size_t offset) const noexcept {
        return pread(descriptor_, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
    }

private:
    const int descriptor_;
};

// The process that has locked the file; 0: none, -1: one that has no number here.
int holder(int descriptor) noexcept {
    struct flock lock {};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    if (fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
    return lock.l_pid > 0 ? lock.l_pid : -1;
}

Expected<ProcessHeader> read_header(const File& file) {
    ProcessHeader header;
    if (!file.read(&header, sizeof header, 0)) return Problem{"it has no header"};
    const auto bytes = std::as_bytes(std::span(&header, 1)).first(offsetof(ProcessHeader, checksum));
    if (header.signature != signature) return Problem{"it is no file with figures"};
    if (header.version != version) return Problem{"its form is of another release"};
    if (header.checksum != hash_of(bytes)) return Problem{"its header is damaged"};
    if (header.process <= 0) return Problem{"it names no process"};
    return header;
}

bool fits(const StreamFigures& stream) noexcept {
    return static_cast<std::uint8_t>(stream.state) < stream_states &&
           static_cast<std::uint8_t>(stream.waits_for) < wait_reasons && stream.completed <= stream.submitted;
}

bool fits(const DeviceFigures& device, std::size_t length) noexcept {
    return device.streams_listed <= most_streams && device.running_listed <= most_running &&
           length == sizeof(DeviceFigures) + device.streams_listed * sizeof(StreamFigures) +
                         device.running_listed * sizeof(RunningFigures) &&
           device.index < most_devices && device.physical < most_devices &&
           std::all_of(std::begin(device.share), std::end(device.share),
                       [](std::uint16_t share) { return share <= 1000; }) &&
           device.workers <= 65536 && device.asleep <= 1 && device.time >= 0;
}

template <class Item>
void take(std::vector<Item>& items, std::uint32_t count, const char*& from) {
    items.resize(count);
    if (count != 0) std::memcpy(items.data(), from, count * sizeof(Item));
    from += count * sizeof(Item);
}

template <std::size_t Size>
void make_printable(char (&field)[Size]) {
    const std::string text = printable(field, Size);
    set_text(field, text.data(), text.size());
}

// False if there is no page of that number that can be read.
bool read_device(const File& file, std::size_t number, Device& device) {
    const auto page = std::make_unique<std::array<char, page_size>>();
    for (int attempt = 0; attempt < attempts; ++attempt) {
        if (!file.read(page->data(), page_size, header_size + number * page_size)) return false;
        if (decode_page(*page, device)) return true;
        usleep(50);  // being written, which takes a few microseconds
    }
    return false;
}
Expected<Process> read_open_file(const File& file) {
    struct stat facts {};
    if (file.descriptor() < 0 || fstat(file.descriptor(), &facts) != 0)
        return Problem{"it cannot be opened: ", std::strerror(errno)};
    if (!S_ISREG(facts.st_mode) || facts.st_uid != geteuid()) return Problem{"it is no file of this user"};
    Expected<ProcessHeader> header = read_header(file);
    if (!header.ok()) return header.problem();
    const int owner = holder(file.descriptor());
    if (owner == 0) return Problem{"its process has ended"};
    if (owner > 0 && owner != header->process) return Problem{"another process holds it"};
    Process process;
    process.id = header->process;
    process.name = printable(header->name, sizeof header->name);
    process.started = header->started;
    const auto size = static_cast<std::size_t>(facts.st_size);
    const std::size_t pages = size < header_size ? 0 : (size - header_size) / page_size;
    for (std::size_t page = 0; page < std::min<std::size_t>(pages, most_devices); ++page)
        if (Device device; read_device(file, page, device)) process.devices.push_back(std::move(device));
    return process;
}

// Removes the file of a process that has ended. One that is being made has no lock at first, and is given time.
void remove_if_left(const std::string& path, bool unfinished) noexcept {
    constexpr time_t time_to_make_it = 60;
    const File file(path);
    struct stat facts {};
    if (file.descriptor() < 0 || fstat(file.descriptor(), &facts) != 0) return;
    if (unfinished && time(nullptr) - facts.st_mtime < time_to_make_it) return;
    if (S_ISREG(facts.st_mode) && facts.st_uid == geteuid() && holder(file.descriptor()) == 0) unlink(path.c_str());
}

bool is_own(std::string_view name) {
    const std::string own = join({file_prefix, getpid(), "."});
    return name.starts_with(own);
}

}  // namespace

std::string printable(const char* text, std::size_t size) {
    std::string result(text, strnlen(text, size));
    for (char& letter : result)
        if (static_cast<unsigned char>(letter) < 0x20 || static_cast<unsigned char>(letter) >= 0x7F) letter = '?';
    return result;
}

bool decode_page(std::span<const char, page_size> page, Device& device) {
    PageHeader head;
    std::memcpy(static_cast<void*>(&head), page.data(), sizeof head);
    const std::uint32_t length = head.length;
    if ((head.sequence.load(std::memory_order_relaxed) & 1) != 0) return false;
    if (length < sizeof(DeviceFigures) || length > page_size - sizeof head) return false;
    const char* body = page.data() + sizeof head;
    if (hash_of({reinterpret_cast<const std::byte*>(body), length}) != head.checksum) return false;
    std::memcpy(&device.figures, body, sizeof device.figures);
    if (!fits(device.figures, length)) return false;
    body += sizeof device.figures;
    take(device.streams, device.figures.streams_listed, body);
    take(device.running, device.figures.running_listed, body);
    for (const StreamFigures& stream : device.streams)
        if (!fits(stream)) return false;
    for (RunningFigures& running : device.running) {
        if (static_cast<std::uint8_t>(running.unit) >= units) return false;
        make_printable(running.name);
    }
    make_printable(device.figures.kind);
    make_printable(device.figures.chip);
    device.memory_used = head.memory_used.load(std::memory_order_relaxed);
    device.memory_peak = head.memory_peak.load(std::memory_order_relaxed);
    device.allocations = head.allocations.load(std::memory_order_relaxed);
    return true;
}

Expected<Process> read_process(const std::string& path) {
    const File file(path);
    Expected<Process> process = read_open_file(file);
    if (!process.ok()) return Problem{path, ": ", process.message()};
    return process;
}

std::vector<Process> read_processes(const std::string& folder) {
    std::vector<Process> processes;
    DIR* entries = opendir(folder.c_str());
    if (entries == nullptr) return processes;
    while (const dirent* entry = readdir(entries)) {
        const std::string_view name = entry->d_name;
        if (!name.starts_with(file_prefix) || is_own(name)) continue;
        const std::string path = join({folder, "/", name});
        const bool unfinished = name.ends_with(unfinished_suffix);
        Expected<Process> process = unfinished ? Problem{"it is not complete"} : read_process(path);
        if (process.ok())
            processes.push_back(std::move(*process));
        else
            remove_if_left(path, unfinished);
    }
    closedir(entries);
    std::sort(processes.begin(), processes.end(),
              [](const Process& one, const Process& other) { return one.id < other.id; });
    return processes;
}

}  // namespace canopy::watch
