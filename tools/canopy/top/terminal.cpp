// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>

namespace canopy_tool {
namespace {

constexpr char enter[] = "\033[?1049h\033[?25l";  // the other page, without a cursor
constexpr char leave[] = "\033[?25h\033[?1049l";

termios before{};
sigset_t mask_before{};
volatile sig_atomic_t last_signal = 0;
volatile sig_atomic_t was_resized = 0;
volatile sig_atomic_t was_stopped = 0;

constexpr int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

void note_signal(int number) {
    if (number == SIGWINCH)
        was_resized = 1;
    else if (number == SIGTSTP)
        was_stopped = 1;
    else
        last_signal = number;
}

bool put(const char* text, std::size_t size) {
    while (size > 0) {
        const ssize_t count = write(STDOUT_FILENO, text, size);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        text += count;
        size -= static_cast<std::size_t>(count);
    }
    return true;
}

void take_over() {
    termios raw = before;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    put(enter, sizeof enter - 1);
}

void give_back() {
    put(leave, sizeof leave - 1);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

// Stops as the terminal asked (control-Z), and goes on when the shell says so.
void stop() {
    was_stopped = 0;
    give_back();
    raise(SIGSTOP);
    take_over();
    was_resized = 1;
}

}  // namespace

bool Terminal::is_there() noexcept { return isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0; }

int Terminal::signal() noexcept { return last_signal; }

Terminal::Terminal() {
    tcgetattr(STDIN_FILENO, &before);
    // Signals arrive while it waits, and nowhere else.
    sigset_t held;
    sigemptyset(&held);
    struct sigaction action {};
    action.sa_handler = note_signal;
    for (const int number : {deadly[0], deadly[1], deadly[2], deadly[3], SIGWINCH, SIGTSTP}) {
        sigaddset(&held, number);
        sigaction(number, &action, nullptr);
    }
    sigprocmask(SIG_BLOCK, &held, &mask_before);
    take_over();
}

Terminal::~Terminal() {
    give_back();
    sigprocmask(SIG_SETMASK, &mask_before, nullptr);
}

Terminal::Size Terminal::size() noexcept {
    winsize found{};
    Size size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) == 0 && found.ws_col != 0 && found.ws_row != 0)
        size = {found.ws_col, found.ws_row};
    return size;
}

bool Terminal::show(const std::vector<std::string>& lines, const Size& size) {
    std::string text = "\033[H";
    for (std::size_t row = 0; row < size.height; ++row) {
        const std::string line = row < lines.size() ? lines[row] : std::string();
        text += line;
        // The rest of the line is empty. Behind a full line the cursor is still on its last letter.
        if (line.size() < size.width) text += "\033[K";
        if (row + 1 < size.height) text += "\r\n";
    }
    return put(text.data(), text.size());
}

Terminal::Event Terminal::wait(double seconds, char& key) {
    const double whole = std::floor(seconds);
    const timespec limit{static_cast<time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = ppoll(&input, 1, &limit, &mask_before);
    if (last_signal != 0) return Event::ended;
    if (was_stopped != 0) stop();
    if (was_resized != 0) {
        was_resized = 0;
        return Event::resized;
    }
    if (ready <= 0) return Event::time_is_up;
    const ssize_t count = read(STDIN_FILENO, &key, 1);
    if (count == 1) return Event::key;
    return (input.revents & (POLLHUP | POLLERR)) != 0 || count == 0 ? Event::ended : Event::time_is_up;
}

}  // namespace canopy_tool
