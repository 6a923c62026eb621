/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libcanopy_dispatcher.so exports: CPU kernels that keep replaceable inner runtimes. Every function is
 * `uint32_t f(void* arguments)`; the structures below are its arguments. canopy/dispatcher.h is the C++ class for host
 * programs; this file is for those who launch the functions themselves, and for the dispatcher.
 *
 * An inner runtime is a shared object that exports
 *   DynTileFwkBackendKernelServer       run, needed;  or simpler_aicpu_exec
 *   DynTileFwkBackendKernelServerInit   init, optional; or simpler_aicpu_init
 * with the same signature. Any number of them live side by side, whatever names they share.
 *
 * Threads: all functions from any block of any launch. A runtime must not unload or swap itself while it runs.
 */
#ifndef CANOPY_DISPATCHER_ABI_H
#define CANOPY_DISPATCHER_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the functions return. Run and init return what the inner runtime returns when they reach it. */
enum CanopyDispatcherResult {
    CANOPY_DISPATCHER_OK = 0,
    CANOPY_DISPATCHER_BAD_ARGUMENT = 11001,    /* a null address, a length of 0, an unknown verb */
    CANOPY_DISPATCHER_BAD_IMAGE = 11002,       /* no shared object for this processor, or one that does not load */
    CANOPY_DISPATCHER_NO_ENTRY = 11003,        /* the image exports no function to run */
    CANOPY_DISPATCHER_INTERNAL = 11006,        /* no memory, or an exception inside the dispatcher */
    CANOPY_DISPATCHER_FULL = 11020,            /* CANOPY_DISPATCHER_MAX_RUNTIMES are loaded */
    CANOPY_DISPATCHER_UNKNOWN_RUNTIME = 11021, /* the id was never given, or its runtime is unloaded */
    CANOPY_DISPATCHER_BUSY = 11022 /* calls did not end in time: the old code left the table, but stays open */
};

#define CANOPY_DISPATCHER_MAX_RUNTIMES 1024u
/* How long unload and swap wait for calls that are under way. */
#define CANOPY_DISPATCHER_DRAIN_SECONDS 10u

/* DynTileFwkDispatcherLoad. The same bytes loaded twice are one runtime, which has to be unloaded twice. */
typedef struct CanopyDispatcherLoad {
    uint64_t image;   /* device address of the shared object's bytes; not needed after the call */
    uint64_t length;  /* of it */
    uint64_t device;  /* id of the device, for messages */
    uint64_t runtime; /* out: the id, never 0 */
} CanopyDispatcherLoad;

/* DynTileFwkDispatcherInit, DynTileFwkDispatcherRun. */
typedef struct CanopyDispatcherCall {
    uint64_t runtime;
    uint64_t arguments; /* what the inner function gets */
} CanopyDispatcherCall;

/* What device memory knows of a runtime, so that a dispatcher whose process has ended finds it again in the next one:
 * CANOPY_DISPATCHER_MAX_RUNTIMES of these, all 0 at first, that of a runtime at its id modulo that number. The
 * dispatcher fills them in when a request names them; images and arguments must stay where they are as long as a record
 * names them. Kernels that run as threads of the program never need them. */
typedef struct CanopyDispatcherKept {
    uint64_t runtime; /* 0: none */
    uint64_t image;
    uint64_t length;
    uint64_t init;  /* arguments of the newest init that went well; 0: none */
    uint64_t loads; /* how often it was loaded and not unloaded */
} CanopyDispatcherKept;

/* CanopyDispatcherRun: as DynTileFwkDispatcherRun. */
typedef struct CanopyDispatcherKeptCall {
    uint64_t runtime;
    uint64_t arguments;
    uint64_t kept; /* address of the records; 0: none */
} CanopyDispatcherKeptCall;

/* CanopyDispatcherRunBlocks: a run whose blocks all reach the same code, even if the runtime is swapped between the
 * first of them and the last. One structure for each launch. */
typedef struct CanopyDispatcherGang {
    uint64_t runtime;
    uint64_t arguments;
    uint64_t chosen; /* the dispatcher's own; 0 at first, and again when the launch has ended */
    uint64_t kept;   /* address of the records; 0: none */
} CanopyDispatcherGang;

/* DynTileFwkDispatcherSwap: puts another image behind an id. Calls that began go on in the old code, later ones reach
 * the new; the old code is closed when the last call has left it. Nothing changes when the new image fails. */
typedef struct CanopyDispatcherSwap {
    uint64_t runtime;
    uint64_t image;
    uint64_t length;
    uint64_t init; /* arguments for the new image's init, called before the switch; 0: it is not called */
} CanopyDispatcherSwap;

/* DynTileFwkDispatcherUnload: at the last of its loads, new calls are refused and those under way end first. */
typedef struct CanopyDispatcherUnload {
    uint64_t runtime;
} CanopyDispatcherUnload;

/* CanopyDispatcherControl: one of the functions above, whose result and text come back in memory; itself it returns 0,
 * so that the stream stays usable. */
enum CanopyDispatcherVerb {
    CANOPY_DISPATCHER_LOAD = 1,
    CANOPY_DISPATCHER_INIT = 2,
    CANOPY_DISPATCHER_SWAP = 3,
    CANOPY_DISPATCHER_UNLOAD = 4,
    CANOPY_DISPATCHER_TEXT = 5 /* the text of the newest failure, also of a run */
};

typedef struct CanopyDispatcherRequest {
    uint64_t verb;
    uint64_t kept;   /* address of the records; 0: none */
    uint64_t result; /* out */
    union {
        CanopyDispatcherLoad load;
        CanopyDispatcherCall call;
        CanopyDispatcherSwap swap;
        CanopyDispatcherUnload unload;
    } arguments;
    char text[968]; /* out: why it failed, ends with a zero */
} CanopyDispatcherRequest;

#ifdef __cplusplus
}
#endif

#endif
