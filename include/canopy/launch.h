/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between host code compiled by canopy-cc and the library: registering an image embedded in a program,
 * and launching with `kernel<<<blocks, bytes, stream>>>(arguments)`.
 *
 * canopy-cc turns a launch into an ordinary call of the kernel's host function. In host code the body of that function
 * is a stub: it takes the thread's pending launch, packs the parameters into an argument block (layout in
 * canopy/kernel_image.h) and calls canopyLaunch with its static launch site. A kernel template has one site per
 * instantiation. A kernel is found in its image by the `key` of its note: its __PRETTY_FUNCTION__, which is the same in
 * host and device code because the same compiler derives it from the same source.
 *
 * Used by toolchain/include/canopy_kernel/target/host.h (compiled into every program), implemented by the library.
 * Every function may be called from any thread at any time, even before and after main. Structures only grow at their
 * end.
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

/* A variable of an image: `__gm__ int v = 5;` at namespace scope. The program has a variable of the same name whose
 * address identifies the one on the device. */
typedef struct CanopyEmbeddedVariable {
    const void* host;   /* address in the program */
    const char* symbol; /* in the image */
    size_t size;
} CanopyEmbeddedVariable;

/* An image inside a program or shared library; one static object per source file with kernels. `sites` is the range of
 * all launch sites of the program or shared library; the member `image` of a site tells which image it belongs to. A
 * kernel template that several files instantiate has one site, in one of their images. */
typedef struct CanopyEmbeddedImage {
    uint32_t version; /* CANOPY_LAUNCH_VERSION */
    uint32_t variable_count;
    const void* bytes; /* the image file (canopy/kernel_image.h), aligned to 64, lives as long as this object */
    size_t size;
    const char* source; /* its source file */
    struct CanopyLaunchSite* sites;
    struct CanopyLaunchSite* sites_end;
    const CanopyEmbeddedVariable* variables;
    void* state[4]; /* used by the library; initially zero */
} CanopyEmbeddedImage;

/* A kernel as host code sees it. Static; everything after `flags` is initially zero and belongs to the library, which
 * caches lookups there. */
typedef struct CanopyLaunchSite {
    const char* key;            /* of the kernel's note */
    CanopyEmbeddedImage* image; /* that contains the kernel */
    const void* function;       /* address of the host function, which identifies the kernel in programs */
    uint32_t arguments_size;    /* bytes passed to canopyLaunch */
    uint32_t flags;             /* bits of CanopyLaunchFlag */
    void* state[6];
} CanopyLaunchSite;

enum CanopyLaunchFlag {
    CANOPY_LAUNCH_THREADS = 1 /* a SIMT kernel: the last slot of its argument block is a CanopyGrid */
};

/* The launch configuration between <<< and >>>. */
typedef struct CanopyConfiguration {
    uint32_t grid[3];      /* their product is the number of blocks; {n, 1, 1} for a single number */
    uint32_t threads[3];   /* of a block; {0, 0, 0} if not given */
    uint64_t dynamic_size; /* bytes of dynamic local memory */
    void* stream;          /* an aclrtStream; null: the default stream of the current context */
} CanopyConfiguration;

/* A configured launch whose kernel is about to be called. Lives on the stack of the launching thread. */
typedef struct CanopyPendingLaunch {
    CanopyConfiguration configuration;
    struct CanopyPendingLaunch* previous;
    int result;    /* of canopyLaunch */
    uint32_t form; /* used by host.h */
} CanopyPendingLaunch;

/* The calling thread's innermost pending launch: the address of a thread-local pointer, initially null. */
CanopyPendingLaunch** canopyPendingLaunch(void);

/* Registers an image, so that its kernels can be found by the address of their host function and its variables by their
 * host address. Cheap: nothing is loaded before the first launch. Unregistering waits for running launches and unloads
 * the image from every device. A launch from an unregistered image registers it. */
void canopyRegisterImage(CanopyEmbeddedImage* image);
void canopyUnregisterImage(CanopyEmbeddedImage* image);

/* Submits the launch to the stream. The `size` bytes of `arguments` are copied. A null configuration means that the
 * kernel was called like a function, without <<<>>>, which is an error. Returns 0, or an acl code and sets the error
 * message (aclGetRecentErrMsg). */
int canopyLaunch(CanopyLaunchSite* site, const CanopyConfiguration* configuration, const void* arguments, size_t size);

#ifdef __cplusplus
}
#endif

#endif
