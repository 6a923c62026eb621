/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract between host code compiled by canopy-cc and the library: how an image embedded in a program becomes
 * known, and how `kernel<<<blocks, bytes, stream>>>(arguments)` becomes a launch.
 *
 * canopy-cc turns a launch into an ordinary call of the kernel's host function. In host code that function's body is a
 * stub: it takes the pending launch of its thread, packs its parameters into an argument block (the slot rule of
 * canopy/kernel_image.h) and calls canopyLaunch with a static launch site of its own. A kernel template has one site
 * for each instantiation. The text that finds a kernel in its image is the `key` of its note: __PRETTY_FUNCTION__ of
 * the kernel, which is the same in host and device code because one compiler makes it from one text.
 *
 * Used by toolchain/include/canopy_kernel/target/host.h (compiled into every program) and implemented by the library.
 * Every function may be called from any thread at any time, also before main and after it. Structures only grow at
 * their end.
 */
#ifndef CANOPY_LAUNCH_H
#define CANOPY_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CANOPY_LAUNCH_VERSION 1u

struct CanopyLaunchSite;

/* A variable of an image: `__gm__ int v = 5;` at namespace scope. The program holds a variable of the same name whose
 * address stands for the one on the device. */
typedef struct CanopyEmbeddedVariable {
    const void* host;   /* address in the program */
    const char* symbol; /* in the image */
    size_t size;
} CanopyEmbeddedVariable;

/* An image inside a program or a shared library; one static object for each source file with kernels. `sites` is the
 * range of all launch sites of the program or shared library, whichever image they belong to: a site belongs to this
 * image when its member `image` says so. A kernel template that several files instantiate has one site, of one of
 * their images. */
typedef struct CanopyEmbeddedImage {
    uint32_t version; /* CANOPY_LAUNCH_VERSION */
    uint32_t variable_count;
    const void* bytes; /* the image file (canopy/kernel_image.h), aligned to 64, there as long as this object */
    size_t size;
    const char* source; /* file it was made from */
    struct CanopyLaunchSite* sites;
    struct CanopyLaunchSite* sites_end;
    const CanopyEmbeddedVariable* variables;
    void* state[4]; /* the library's own; zero at first */
} CanopyEmbeddedImage;

/* A kernel as host code sees it. Static; everything behind `flags` starts as zero and belongs to the library, which
 * keeps there what it found for a device. */
typedef struct CanopyLaunchSite {
    const char* key;            /* of the kernel's note */
    CanopyEmbeddedImage* image; /* that holds it */
    const void* function;       /* address of the host function: what a program passes for "this kernel" */
    uint32_t arguments_size;    /* bytes canopyLaunch will be given */
    uint32_t flags;             /* bits of CanopyLaunchFlag */
    void* state[6];
} CanopyLaunchSite;

enum CanopyLaunchFlag {
    CANOPY_LAUNCH_THREADS = 1 /* a SIMT kernel: the last slot of its argument block is a CanopyGrid */
};

/* What stands between <<< and >>>. */
typedef struct CanopyConfiguration {
    uint32_t grid[3];      /* blocks; {n, 1, 1} when a number was given. Their product is the number of blocks. */
    uint32_t threads[3];   /* of a block; {0, 0, 0} when not given */
    uint64_t dynamic_size; /* bytes of dynamic local memory */
    void* stream;          /* an aclrtStream; null: the default stream of the current context */
} CanopyConfiguration;

/* A launch that was configured and whose kernel is about to be called. Lives on the stack of the launching thread. */
typedef struct CanopyPendingLaunch {
    CanopyConfiguration configuration;
    struct CanopyPendingLaunch* previous;
    int result;    /* of canopyLaunch */
    uint32_t form; /* host.h's own */
} CanopyPendingLaunch;

/* The calling thread's innermost pending launch: the address of a thread-local pointer, null at first. */
CanopyPendingLaunch** canopyPendingLaunch(void);

/* Makes an image known: its kernels to functions that take the address of a host function, its variables to those that
 * take a host address. Cheap, because nothing is loaded before the first launch. Unregistering unloads it from every
 * device; launches under way end first. A launch from an image that is not registered yet registers it. */
void canopyRegisterImage(CanopyEmbeddedImage* image);
void canopyUnregisterImage(CanopyEmbeddedImage* image);

/* Puts the launch into the stream. `arguments` are `size` bytes that are not needed after the call; null configuration:
 * the kernel was called like a function, without <<<>>>, which is an error. Returns 0 or an acl code, and then leaves
 * its text for aclGetRecentErrMsg. */
int canopyLaunch(CanopyLaunchSite* site, const CanopyConfiguration* configuration, const void* arguments, size_t size);

#ifdef __cplusplus
}
#endif

#endif
