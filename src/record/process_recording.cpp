// SPDX-License-Identifier: Apache-2.0
#include "record/process_recording.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/notice.h"
#include "base/process_state.h"
#include "foundation/mutex.h"
#include "profile/profile_writer.h"
#include "record/black_box.h"
#include "record/collector.h"
#include "record/names.h"
#include "record/recorder.h"

namespace canopy::record {
namespace {

struct Word {
    std::string_view word;
    std::uint32_t wanted;
};
constexpr std::array words = {Word{"calls", calls},   Word{"tasks", tasks},   Word{"nodes", nodes},
                              Word{"blocks", blocks}, Word{"memory", memory}, Word{"marks", marks},
                              Word{"idle", idle},     Word{"steps", steps}};

struct WholeProcess {
    Mutex mutex;
    std::unique_ptr<Recording> recording CANOPY_GUARDED_BY(mutex);
    bool quiet CANOPY_GUARDED_BY(mutex) = false;
};

void finish_at_exit() {
    try {
        auto& whole = process_state<WholeProcess>();
        MutexLock lock(whole.mutex);
        const auto recording = std::exchange(whole.recording, nullptr);
        const Problem problem = recording ? recording->finish() : Problem();
        if (BlackBox* const box = BlackBox::present()) box->remove();
        if (problem && !whole.quiet) print_notice("CANOPY_PROFILE: " + problem.message());
    } catch (...) {  // no memory: the file has no end
    }
}

Problem finish_later() {
    static const int at_exit = std::atexit(finish_at_exit);
    return at_exit == 0 ? Problem() : Problem{"the end of the process cannot be noticed"};
}

std::string path_of_process(const std::string& pattern) {
    const std::string process = std::to_string(::getpid());
    std::string path;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '%' && i + 1 < pattern.size() && pattern[i + 1] == 'p') {
            path += process;
            ++i;
        } else {
            path += pattern[i];
        }
    }
    return profile::ProfileWriter::in_use(path) ? path + '.' + process : path;
}

}  // namespace

std::optional<std::uint32_t> wanted_of(std::string_view list) noexcept {
    std::uint32_t wanted = 0;
    while (true) {
        const std::size_t comma = list.find(',');
        const std::string_view word = list.substr(0, comma);
        std::uint32_t found = word == "everything" ? std::uint32_t{everything} : 0;
        for (const Word& known : words)
            if (known.word == word) found = known.wanted;
        if (found == 0) return std::nullopt;
        wanted |= found;
        if (comma == std::string_view::npos) return wanted;
        list.remove_prefix(comma + 1);
    }
}

std::string wanted_text(std::uint32_t wanted) {
    if (wanted == everything) return "everything";
    std::string text;
    for (const Word& word : words)
        if ((wanted & word.wanted) != 0) text += (text.empty() ? "" : ",") + std::string(word.word);
    return text;
}

Problem record_process(const std::string& path, std::uint32_t wanted, bool quiet) {
    auto& whole = process_state<WholeProcess>();
    MutexLock lock(whole.mutex);
    if (whole.recording) return {"the process is recorded already"};
    auto recording = record_to(path_of_process(path), wanted);
    // Another process may have taken the name a moment ago.
    if (!recording.ok() && profile::ProfileWriter::in_use(path)) recording = record_to(path_of_process(path), wanted);
    if (!recording.ok()) return recording.problem();
    whole.recording = std::move(*recording);
    whole.quiet = quiet;
    return finish_later();
}

// Not idle times: they would replace what happened before a long wait.
Problem keep_black_box(bool alone) {
    if (Problem problem = finish_later()) return problem;
    Collector& collector = Collector::present();  // notices forks
    if (Problem problem = BlackBox::begin()) return problem;
    // Texts that other threads add from now on write themselves.
    Names::Position start;
    for (const NumberedText& text : names().after(start)) BlackBox::present()->text(text.number, text.text);
    if (alone) collector.write_always(everything & ~std::uint32_t{idle});
    return {};
}

}  // namespace canopy::record
