// SPDX-License-Identifier: Apache-2.0
// The terminal as a page that is drawn again and again. The terminal is left as it was found, unless the program is
// killed with SIGKILL or fails. One object at a time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace canopy_tool {

class Terminal {
public:
    // Takes over the terminal of the standard input and output.
    Terminal();
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    // True if both are a terminal.
    static bool is_there() noexcept;
    struct Size {
        std::size_t width = 80, height = 24;
    };
    [[nodiscard]] static Size size() noexcept;
    // False if the terminal is gone.
    bool show(const std::vector<std::string>& lines, const Size& size);

    // key: one was pressed. ended: by a signal, or the terminal is gone.
    enum class Event { time_is_up, key, resized, ended };
    Event wait(double seconds, char& key);
    // After `ended`: the signal, 0 if the terminal is gone.
    [[nodiscard]] static int signal() noexcept;
};

}  // namespace canopy_tool
