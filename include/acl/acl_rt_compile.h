/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run-time compilation: kernel source held in memory becomes an image that aclrtBinaryLoadFromData loads. The work is
 * done by the kernel compiler of the installation. Needs neither aclInit nor a device. Safe from any thread; calls for
 * one program wait for each other, programs are compiled side by side.
 */
#ifndef CANOPY_INCLUDE_ACL_ACL_RT_COMPILE_H
#define CANOPY_INCLUDE_ACL_ACL_RT_COMPILE_H

#include <stddef.h>

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A program: source, headers, name expressions, and what compiling them gave. */
typedef void* aclrtcProg;

/* ------------------------------------------------------------------------------------------------------------
 * Run-time compilation
 * ------------------------------------------------------------------------------------------------------------ */

/** Creates a program from source text. `name` is the file name in messages and may be null; `includeNames[i]` is
 * what the source writes behind #include to get the text `headers[i]`. All texts are copied. */
ACL_FUNC_VISIBILITY aclError aclrtcCreateProg(aclrtcProg* prog, const char* src, const char* name, int numHeaders,
                                              const char** headers, const char** includeNames);

/** Compiles a program with the options of the kernel compiler. Without an architecture among them the program is
 * compiled for the chip of this process's devices. Whatever the compiler says is kept as the program's log. */
ACL_FUNC_VISIBILITY aclError aclrtcCompileProg(aclrtcProg prog, int numOptions, const char** options);

/** Notes the name of a kernel or of a variable's address, as C++ spells it, before the program is compiled. A template
 * that is named with its arguments is instantiated. */
ACL_FUNC_VISIBILITY aclError aclrtcAddNameExpr(aclrtcProg prog, const char* const nameExpression);

/** Gets the name under which the image holds what a noted expression means: for aclrtBinaryGetFunction, or
 * aclrtBinaryGetGlobal. The name stays valid until the program is compiled again or destroyed. */
ACL_FUNC_VISIBILITY aclError aclrtcGetLoweredName(aclrtcProg prog, const char* nameExpression,
                                                  const char** loweredName);

/** Destroys a program and sets `*prog` to null. Binaries that were loaded from its image stay. */
ACL_FUNC_VISIBILITY aclError aclrtcDestroyProg(aclrtcProg* prog);

/** Copies the image of a compiled program into memory of at least the size that aclrtcGetBinDataSize gives. */
ACL_FUNC_VISIBILITY aclError aclrtcGetBinData(aclrtcProg prog, char* binData);

/** Gets the size of a compiled program's image in bytes. */
ACL_FUNC_VISIBILITY aclError aclrtcGetBinDataSize(aclrtcProg prog, size_t* binDataSizeRet);

/** Gets the size of the log in bytes, the closing zero included. */
ACL_FUNC_VISIBILITY aclError aclrtcGetCompileLogSize(aclrtcProg prog, size_t* logSizeRet);

/** Copies the log of the last compilation, which is empty before the first, and a closing zero. */
ACL_FUNC_VISIBILITY aclError aclrtcGetCompileLog(aclrtcProg prog, char* log);

#ifdef __cplusplus
}
#endif

#endif
