// SPDX-License-Identifier: Apache-2.0
#include "top.h"

#include <fmt/core.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "foundation/clock.h"
#include "foundation/run_folder.h"
#include "picture.h"
#include "readings.h"
#include "terminal.h"

namespace canopy_tool {
namespace {

constexpr std::size_t no_limit = 10'000;
constexpr double first_interval = 0.2;  // between the two readings that the first figures need

void pause(double seconds) {
    const double whole = std::floor(seconds);
    const timespec time{static_cast<time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
    nanosleep(&time, nullptr);
}

// False if nobody reads it any more.
bool print(const View& view, bool as_json) {
    std::string text;
    if (as_json) {
        text = to_json(view).dump() + "\n";
    } else {
        for (const std::string& line : draw(view, no_limit, no_limit)) text += line + "\n";
    }
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
}

bool is_missing(const TopOptions& options, const View& view) {
    if (options.process == 0 || !view.processes.empty()) return false;
    fmt::print(stderr, "canopy top: process {} does not use Canopy\n", options.process);
    return true;
}

int run_as_text(const TopOptions& options, Readings& readings, View view) {
    signal(SIGPIPE, SIG_IGN);  // writing fails instead
    for (;;) {
        if (!print(view, options.json)) return options.once ? 1 : 0;
        if (options.once) return 0;
        pause(options.interval);
        view = readings.take();
        // The one process has ended.
        if (options.process != 0 && view.processes.empty()) return 0;
    }
}

int run_in_terminal(const TopOptions& options, Readings& readings, View view) {
    int ended_by = 0;
    {
        Terminal terminal;
        const auto interval = static_cast<canopy::Nanoseconds>(options.interval * canopy::second);
        canopy::Nanoseconds next = canopy::now() + interval;
        for (bool go_on = true; go_on;) {
            const Terminal::Size size = Terminal::size();
            std::vector<std::string> lines = draw(view, size.width, size.height > 1 ? size.height - 1 : 1);
            if (size.height > 1) {
                lines.resize(size.height - 1);
                lines.push_back(std::string("q: quit").substr(0, size.width));
            }
            if (!terminal.show(lines, size)) break;
            char key = 0;
            const canopy::Nanoseconds left = std::max(next - canopy::now(), canopy::Nanoseconds{0});
            switch (terminal.wait(static_cast<double>(left) / canopy::second, key)) {
                case Terminal::Event::time_is_up:
                    view = readings.take();
                    next = canopy::now() + interval;
                    break;
                case Terminal::Event::key:
                    go_on = key != 'q' && key != 'Q';
                    break;
                case Terminal::Event::resized:
                    break;
                case Terminal::Event::ended:
                    ended_by = Terminal::signal();
                    go_on = false;
                    break;
            }
        }
    }
    if (ended_by != 0 && ended_by != SIGINT) {  // ends as others expect of that signal
        signal(ended_by, SIG_DFL);
        raise(ended_by);
    }
    return 0;
}

}  // namespace

int run_top(const TopOptions& options) {
    Readings readings(canopy::run_folder_path(), options.process);
    View view = readings.take();
    if (is_missing(options, view)) return 1;
    if (!view.processes.empty()) {
        pause(std::min(options.interval, first_interval));
        view = readings.take();
    }
    if (options.once || options.json || !Terminal::is_there()) return run_as_text(options, readings, std::move(view));
    return run_in_terminal(options, readings, std::move(view));
}

}  // namespace canopy_tool
