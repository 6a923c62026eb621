/* SPDX-License-Identifier: Apache-2.0 */
/* Linked by the install test with the library under all its names; also opens each library named on the command line.
   Prints the chip's name, which must be known before anything is initialised. */
#include <dlfcn.h>
#include <stdio.h>

#include "acl/acl.h"

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        void* library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        if (dlsym(library, "aclInit") != (void*)&aclInit) {
            fprintf(stderr, "%s is a second copy of the library\n", argv[i]);
            return 1;
        }
    }
    int32_t version = 0;
    if (aclsysGetVersionNum("runtime", &version) != ACL_SUCCESS || version <= 0) {
        fprintf(stderr, "the tree does not say which version of the runtime it is\n");
        return 1;
    }
    puts(aclrtGetSocName());
    return 0;
}
