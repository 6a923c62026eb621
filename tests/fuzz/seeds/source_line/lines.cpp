// SPDX-License-Identifier: Apache-2.0
// Compiled for its line table: functions in sections of their own, inlined code of a header, a loop.
#include <string_view>

[[gnu::section(".text.first")]] int first(const char* text) {
    int count = 0;
    for (const char letter : std::string_view(text))
        if (letter == ' ') ++count;
    return count;
}

[[gnu::section(".text.second")]] int second(int number) {
    switch (number) {
        case 1:
            return first("one");
        case 2:
            return first("one two") * number;
        default:
            return number / 3;
    }
}
