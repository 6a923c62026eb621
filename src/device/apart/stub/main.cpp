// SPDX-License-Identifier: Apache-2.0
// The program of the process that runs a device's kernels. It is embedded in the library and started from a memory
// file; its arguments are the descriptors of its socket and of the library's file, which does the work.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

int main(int count, char** arguments) {
    if (count != 3) return 2;
    prctl(PR_SET_NAME, "canopy-device");
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%s", arguments[2]);
    void* library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "canopy-device: %s\n", dlerror());
        return 3;
    }
    auto serve = reinterpret_cast<int (*)(int)>(dlsym(library, "canopy_serve_device"));
    return serve ? serve(atoi(arguments[1])) : 4;
}
