// SPDX-License-Identifier: Apache-2.0
// A shared library with an embedded image, in the form canopy-cc emits: registered by a constructor, unregistered by a
// destructor. Built twice.
#include "acl/acl.h"
#include "canopy/launch.h"

asm(R"(
    .section .rodata
    .balign 64
    .type embedded_bytes, @object
embedded_bytes:
    .incbin ")" CANOPY_TEST_KERNELS R"("
embedded_bytes_end:
    .previous
)");
extern "C" const char embedded_bytes[], embedded_bytes_end[];

extern "C" {
int library_increment(void* stream, void* counter);
void library_wait_at_end(void* stream);
extern unsigned library_word;
unsigned library_word = 0;
}

namespace {

extern CanopyEmbeddedImage image;
CanopyLaunchSite sites[] = {
    {"increment", &image, reinterpret_cast<const void*>(&library_increment), 8, 0, {}},
};
const CanopyEmbeddedVariable variables[] = {{&library_word, "global_word", sizeof(library_word)}};
CanopyEmbeddedImage image = {CANOPY_LAUNCH_VERSION, 1, nullptr, 0, "kernels.cpp", sites, sites + 1, variables, {}};

// Constructed before the registration, hence destroyed after it.
struct Ending {
    void* stream = nullptr;
    ~Ending() {
        if (stream) aclrtSynchronizeStream(stream);
    }
};
Ending ending;

struct Registration {
    Registration() {
        image.bytes = embedded_bytes;
        image.size = static_cast<size_t>(embedded_bytes_end - embedded_bytes);
        canopyRegisterImage(&image);
    }
    ~Registration() { canopyUnregisterImage(&image); }
};
const Registration registration;

}  // namespace

void library_wait_at_end(void* stream) { ending.stream = stream; }

int library_increment(void* stream, void* counter) {
    const CanopyConfiguration configuration = {{1, 1, 1}, {0, 0, 0}, 0, stream};
    return canopyLaunch(&sites[0], &configuration, &counter, sizeof(counter));
}
