/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU kernels exported by libcanopy_dispatcher.so, which manage replaceable inner runtimes. Every function is
 * `uint32_t f(void* arguments)`; its arguments are one of the structures below. Host programs use the C++ class in
 * canopy/dispatcher.h; this file is for the dispatcher, and for programs that launch the functions themselves.
 *
 * An inner runtime is a shared object that exports
 *   DynTileFwkBackendKernelServer       run, required; or simpler_aicpu_exec
 *   DynTileFwkBackendKernelServerInit   init, optional; or simpler_aicpu_init
 * with the same signature. Any number of them can be loaded side by side, even if they export the same names.
 *
 * Threads: any block of any launch may call any function. A runtime must not unload or swap itself.
 */
#ifndef CANOPY_DISPATCHER_ABI_H
#define CANOPY_DISPATCHER_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Return values of the functions. If run and init reach the inner runtime, they return its value. */
enum CanopyDispatcherResult {
    CANOPY_DISPATCHER_OK = 0,
    CANOPY_DISPATCHER_BAD_ARGUMENT = 11001,    /* a null address, a length of 0, an unknown verb */
    CANOPY_DISPATCHER_BAD_IMAGE = 11002,       /* not a shared object for this processor, or does not load */
    CANOPY_DISPATCHER_NO_ENTRY = 11003,        /* the image exports no function to run */
    CANOPY_DISPATCHER_INTERNAL = 11006,        /* out of memory, or an exception inside the dispatcher */
    CANOPY_DISPATCHER_FULL = 11020,            /* CANOPY_DISPATCHER_MAX_RUNTIMES are loaded */
    CANOPY_DISPATCHER_UNKNOWN_RUNTIME = 11021, /* the id was never given out, or its runtime was unloaded */
    CANOPY_DISPATCHER_BUSY = 11022 /* calls did not return in time: the old code is out of the table but stays loaded */
};

#define CANOPY_DISPATCHER_MAX_RUNTIMES 1024u
/* How long unload and swap wait for running calls. */
#define CANOPY_DISPATCHER_DRAIN_SECONDS 10u

/* DynTileFwkDispatcherLoad. Loading the same bytes twice gives one runtime, which must be unloaded twice. */
typedef struct CanopyDispatcherLoad {
    uint64_t image;   /* device address of the shared object's bytes; copied */
    uint64_t length;  /* in bytes */
    uint64_t device;  /* id of the device, for messages */
    uint64_t runtime; /* out: the id, never 0 */
} CanopyDispatcherLoad;

/* DynTileFwkDispatcherInit, DynTileFwkDispatcherRun. */
typedef struct CanopyDispatcherCall {
    uint64_t runtime;
    uint64_t arguments; /* passed to the inner function */
} CanopyDispatcherCall;

/* Record of a runtime in device memory, from which the dispatcher restores it if its process has died. An array of
 * CANOPY_DISPATCHER_MAX_RUNTIMES records, initially all 0, indexed by id modulo that number. The dispatcher fills them
 * in if a request passes them; images and arguments must stay valid as long as a record refers to them. Not needed if
 * CPU kernels run as threads of the program. */
typedef struct CanopyDispatcherKept {
    uint64_t runtime; /* 0: none */
    uint64_t image;
    uint64_t length;
    uint64_t init;  /* arguments of the latest successful init; 0: none */
    uint64_t loads; /* loads minus unloads */
} CanopyDispatcherKept;

/* CanopyDispatcherRun: as DynTileFwkDispatcherRun. */
typedef struct CanopyDispatcherKeptCall {
    uint64_t runtime;
    uint64_t arguments;
    uint64_t kept; /* address of the records; 0: none */
} CanopyDispatcherKeptCall;

/* CanopyDispatcherRunBlocks: a run whose blocks all execute the same code, even if the runtime is swapped while they
 * start. One structure per launch. */
typedef struct CanopyDispatcherGang {
    uint64_t runtime;
    uint64_t arguments;
    uint64_t chosen; /* private to the dispatcher; initially 0, and 0 again after the launch */
    uint64_t kept;   /* address of the records; 0: none */
} CanopyDispatcherGang;

/* DynTileFwkDispatcherSwap: replaces the image behind an id. Running calls finish in the old code, later calls execute
 * the new one; the old code is closed when the last call has left it. Nothing changes if the new image fails. */
typedef struct CanopyDispatcherSwap {
    uint64_t runtime;
    uint64_t image;
    uint64_t length;
    uint64_t init; /* arguments for the init of the new image, called before the switch; 0: no call */
} CanopyDispatcherSwap;

/* DynTileFwkDispatcherUnload: the last unload refuses new calls and waits for running ones. */
typedef struct CanopyDispatcherUnload {
    uint64_t runtime;
} CanopyDispatcherUnload;

/* CanopyDispatcherControl: one of the functions above, with result and message returned in memory. Returns 0 itself, so
 * the stream stays usable. */
enum CanopyDispatcherVerb {
    CANOPY_DISPATCHER_LOAD = 1,
    CANOPY_DISPATCHER_INIT = 2,
    CANOPY_DISPATCHER_SWAP = 3,
    CANOPY_DISPATCHER_UNLOAD = 4,
    CANOPY_DISPATCHER_TEXT = 5 /* the message of the latest failure, including runs */
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
    char text[968]; /* out: error message, zero-terminated */
} CanopyDispatcherRequest;

#ifdef __cplusplus
}
#endif

#endif
