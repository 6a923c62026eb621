// SPDX-License-Identifier: Apache-2.0
// A library whose destructor, which dlclose runs, calls a function of the test.
namespace {

struct Library {
    void (*at_unload)() = nullptr;
    ~Library() {
        if (at_unload) at_unload();
    }
} library;

}  // namespace

extern "C" void call_at_unload(void (*function)()) { library.at_unload = function; }
