/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fusing the kernels of a captured graph. Scopes on streams mark the kernels to fuse during capture; aclskOptimize then
 * turns each run of them into a single launch. No compiler is needed; if there is one, fused kernels are compiled
 * further in the background (canopy/fusion.h reports the progress). Safe to call from any thread.
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

/** Types of options. All are accepted; those for code and caches of a chip have no effect. */
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

/** An option: its type and a value of the matching form. */
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

/** Fuses each run of kernels of a captured graph into one launch: runs inside the same scope or, if the graph has no
 * scopes, all runs. Copies, host functions and external events end a run, and so do events between streams of the graph
 * unless STREAM_FUSION is set. Tasks keep their handles and can still be updated. `options` may be null. */
ACL_FUNC_VISIBILITY aclError aclskOptimize(aclmdlRI model, aclskOptions* options);

/** Opens a scope on a stream that is being captured: kernels in scopes of the same name may be fused, also across
 * streams. With a null name the kernels of the scope are not fused. Scopes on a stream do not nest. */
ACL_FUNC_VISIBILITY aclError aclskScopeBegin(const char* scopeName, aclrtStream stream);

/** Closes the scope of that name on a stream. */
ACL_FUNC_VISIBILITY aclError aclskScopeEnd(const char* scopeName, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
