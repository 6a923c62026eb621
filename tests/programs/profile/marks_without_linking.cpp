// SPDX-License-Identifier: Apache-2.0
// A program that links nothing of Canopy: it includes the header of mstx, opens the runtime while it runs, and its
// ranges are in the profile.
#include <dlfcn.h>
#include <mstx/ms_tools_ext.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "canopy/profile.h"

#define REQUIRE(condition)                                                                 \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            std::fprintf(stderr, "%s:%d: %s is not so\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                                  \
        }                                                                                  \
    } while (false)

namespace {

void* library = nullptr;

using Start = int(const char*, uint32_t, canopyProfile**);
using Stop = int(canopyProfile*);
using Rows = int(canopyProfile*, canopyProfileTable, const void**, size_t*, size_t*);
using Text = int(canopyProfile*, size_t, const char**);

template <class Function>
Function* function(const char* name) {
    void* const found = dlsym(library, name);
    REQUIRE(found != nullptr);
    return reinterpret_cast<Function*>(found);
}

}  // namespace

int main() {
    REQUIRE(mstxRangeStartA("without a runtime", nullptr) == MSTX_INVALID_RANGE_ID);
    REQUIRE(mstxDomainCreateA("nobody") == nullptr);
    library = dlopen(PROGRAM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
    canopyProfile* profile = nullptr;
    REQUIRE(function<Start>("canopyProfileStart")(nullptr, CANOPY_PROFILE_MARKS, &profile) == 0);
    // The runtime is found at one of the next calls.
    mstxDomainHandle_t domain = nullptr;
    for (int attempt = 0; attempt < 64 && domain == nullptr; ++attempt) domain = mstxDomainCreateA("mine");
    REQUIRE(domain != nullptr);
    mstxDomainHandle_t const other = mstxDomainCreateA("left out");
    const mstxRangeId range = mstxDomainRangeStartA(domain, "range", nullptr);
    mstxMarkA("moment", nullptr);
    mstxDomainMarkA(other, "of the other domain", nullptr);
    mstxDomainRangeEnd(other, range);
    mstxRangeEnd(range);
    mstxDomainRangeEnd(domain, range);
    REQUIRE(function<Stop>("canopyProfileStop")(profile) == 0);
    const void* rows = nullptr;
    size_t size = 0, count = 0;
    REQUIRE(function<Rows>("canopyProfileRows")(profile, CANOPY_PROFILE_TABLE_MARKS, &rows, &size, &count) == 0);
    REQUIRE(size == sizeof(canopyProfileMark) && count == 2);
    std::map<std::string, std::string> domains;
    for (size_t index = 0; index < count; ++index) {
        const canopyProfileMark& mark = static_cast<const canopyProfileMark*>(rows)[index];
        const char *text = nullptr, *name = nullptr;
        REQUIRE(function<Text>("canopyProfileText")(profile, mark.text, &text) == 0);
        REQUIRE(function<Text>("canopyProfileText")(profile, mark.domain, &name) == 0);
        REQUIRE(mark.source == 1 && mark.on_device == 0);
        domains[text] = name;
    }
    REQUIRE((domains == std::map<std::string, std::string>{{"range", "mine"}, {"moment", "default"}}));
    REQUIRE(function<Stop>("canopyProfileClose")(profile) == 0);
    std::printf("marks_without_linking: %zu marks\n", count);
}
