/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fusing the kernels of a captured graph: marks on streams while they are captured say which kernels belong together,
 * and one call makes a single launch of each run of them. No compiler is needed; where one is there, fused kernels get
 * faster while they are used (canopy/fusion.h tells how far they are). Safe from any thread.
 */
#ifndef CANOPY_INCLUDE_ACL_SUPER_KERNEL_H
#define CANOPY_INCLUDE_ACL_SUPER_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACLSK_MAX_SCOPE_NAME 255  /* characters of a scope's name */
#define ACLSK_MAX_SCOPE_NAMES 256 /* different names in one graph */
#define ACLSK_MAX_SCOPES 1024     /* scopes in one graph */
#define ACLSK_MAX_TASKS 1024      /* kernels in one fused launch */

/** What an option is about. All are accepted; those that steer code and caches of a chip change nothing here. */
typedef enum aclskOptionType {
    ACLSK_OPTION_PRELOAD_CODE = 0,
    ACLSK_OPTION_SPLIT_MODE = 1,
    ACLSK_OPTION_STREAM_FUSION = 2, /* number 1: kernels of several streams may become one launch */
    ACLSK_OPTION_DCCI_DISABLE_ON_KERNEL = 3,
    ACLSK_OPTION_DEBUG_SYNC_ALL = 4, /* number 1: every kernel waits for those before it */
    ACLSK_OPTION_KERNEL_MAP = 5,
    ACLSK_OPTION_CONSTANT_CODEGEN = 6,
    ACLSK_OPTION_AUTO_OP_PARALLEL = 7,
    ACLSK_OPTION_DCCI_BEFORE = 8,
    ACLSK_OPTION_DEBUG_OP_EXEC_TRACE = 9,
    ACLSK_OPTION_DEBUG_CROSS_CORE_SYNC_CHECK = 10,
    ACLSK_OPTION_OPT_EXTEND = 11,
    ACLSK_OPTION_DEBUG_EXTEND = 12,
    ACLSK_OPTION_DCCI_AFTER = 13,
    ACLSK_OPTION_AGGRESSIVE_OPT_STRATEGIES = 14,
    ACLSK_OPTION_UBUF_LOCK_IGNORE = 15,
    ACLSK_OPTION_EARLY_START = 16, /* number 0: every kernel waits for those before it, as with DEBUG_SYNC_ALL */
    ACLSK_OPTION_DEBUG_PER_OP_MAX_CORE_NUM = 17
} aclskOptionType;

/** An option: its type, and a value in the form the type asks for. */
typedef struct aclskOption {
    aclskOptionType type;
    union {
        uint64_t number;
        const char* text;
        void* pointer;
    } value;
} aclskOption;

typedef struct aclskOptions {
    aclskOption* options;
    size_t numOptions;
} aclskOptions;

/* ------------------------------------------------------------------------------------------------------------
 * Fusing captured graphs
 * ------------------------------------------------------------------------------------------------------------ */

/** Makes fused launches of the kernels of a captured graph: of runs of kernels inside the same scope, or, when the
 * graph has no scopes, of all runs. Copies, host functions and events of the world outside end a run; an event that
 * joins streams of the graph does too, unless STREAM_FUSION is set. Tasks keep their handles and may be changed as
 * before. `options` may be null. */
ACL_FUNC_VISIBILITY aclError aclskOptimize(aclmdlRI model, aclskOptions* options);

/** Opens a scope on a stream that is being captured: kernels of the same scope may be fused, on whatever streams it was
 * opened. A null name keeps the kernels up to the end of the scope as they are. Scopes of a stream do not nest. */
ACL_FUNC_VISIBILITY aclError aclskScopeBegin(const char* scopeName, aclrtStream stream);

/** Closes the scope of that name on a stream. */
ACL_FUNC_VISIBILITY aclError aclskScopeEnd(const char* scopeName, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
