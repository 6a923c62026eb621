/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format of kernel image files, which canopy-cc writes and devices read.
 *
 * An image is an ELF64 little-endian container (e_type ET_REL, e_machine EM_X86_64). It contains no code directly:
 *
 *   .note.canopy        ELF notes of owner "Canopy": one CANOPY_NOTE_IMAGE, one CANOPY_NOTE_KERNEL per kernel, one
 *                       CANOPY_NOTE_TARGET per target, at most one CANOPY_NOTE_CHECK, and one CANOPY_NOTE_SEAL at the
 *                       end. An image of fused
 *                       kernels has no targets, but one CANOPY_NOTE_PART per part and one CANOPY_NOTE_FUSION
 *   .canopy.<target>    the shared object for that target, for example .canopy.x86-64-v3
 *   .canopy.part.<n>    in an image of fused kernels: a complete image file whose kernels are steps
 *
 * In a note, numbers are little-endian without padding, and a text is a u16 length followed by its bytes. Readers skip
 * notes of unknown type and bytes after the last known field, so notes may grow at their end.
 *
 *   IMAGE   u32 format version, u32 kernel ABI version, u32 count, count x u32 architecture, text producer
 *   KERNEL  u32 core type, u16 cube ratio, u16 vector ratio, u32 schedule mode, u32 arguments size, u32 count,
 *           count x { u32 offset, u32 size, u32 alignment }, text name, text entry symbol, text symbol of the
 *           kernel's own function, text source file, u32 flags, text key
 *           Flags are CanopyKernelFlag. The key is the compiler's __PRETTY_FUNCTION__ of the kernel: launches in the
 *           same source find the kernel by it, and it distinguishes instantiations of one template. Notes that end
 *           before the flags have no flags and an empty key.
 *   TARGET  text name, text section, u64 size of the section, u64 checksum of the section
 *   PART    text section, u64 size of the section, u64 checksum of the section
 *   FUSION  u32 length, JSON of that length that describes the fused kernels, see below. The entry symbols in their
 *           KERNEL notes are empty
 *   CHECK   u32 flags, text name. Flags are CanopyCheckFlag. By the name the compiler has kept the text from which the
 *           image's checking code (canopy/kernel_check.h) can be compiled; empty: it has kept none
 *   SEAL    u64 checksum of all bytes of .note.canopy before this number
 *
 * The JSON of a FUSION note. A slot is the index of an 8-byte word in the fused kernel's argument block:
 *
 *   {"kernels": [{"name": text, "blocks": number, "slots": number, "options": {text: text}, "temporaries": [slot],
 *                 "steps": [step]}]}
 *
 *   step: {"number": its index in the user's list, "part": index of a PART note,
 *          "kernel": name of a kernel in that part, "blocks": number, "stream": number,
 *          "slot": where its argument block begins, "slots": the number of words in it}
 *   and optionally:
 *     "after": [index of an earlier step]       steps that must be complete before it, by streams and events; a
 *                                               step without this member comes after all earlier steps
 *     "inputs": [slot], "outputs": [slot]       addresses it reads and writes; unknown if both are missing
 *     "wait_slots": [slot]                      addresses of 64-bit words: it waits until they are 1
 *     "notify_slots": [slot]                    addresses of 64-bit words set to 1 when it is complete
 *     "reset_slots": [slot]                     addresses of 64-bit words set to 0 when the fused kernel ends
 *     "dynamic": {"key_slot": slot, "blocks_slot": slot, "wait_slot": slot, "choices": [choice]}
 *                                               once the word of "wait_slot" is 1, the kernel and its number of
 *                                               blocks are read from the 64-bit words at these addresses
 *   choice: {"key": number, "part": index, "kernel": name}
 *
 * With the option "profiling": "1" the last two slots belong to no step: the address of a buffer for step times and a
 * number stored with them, see canopy/fusion_profile.h.
 *
 * Checksums are 64-bit XXH3 with seed 0. They detect damage, not malice: an image is code, so load only trusted ones.
 */
#ifndef CANOPY_KERNEL_IMAGE_H
#define CANOPY_KERNEL_IMAGE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CANOPY_IMAGE_FORMAT_VERSION 1u

#define CANOPY_NOTE_SECTION ".note.canopy"
#define CANOPY_NOTE_OWNER "Canopy"
#define CANOPY_TARGET_SECTION_PREFIX ".canopy."
#define CANOPY_PART_SECTION_PREFIX ".canopy.part."

enum CanopyNoteType {
    CANOPY_NOTE_IMAGE = 0x4301,
    CANOPY_NOTE_KERNEL = 0x4302,
    CANOPY_NOTE_TARGET = 0x4303,
    CANOPY_NOTE_SEAL = 0x4304,
    CANOPY_NOTE_PART = 0x4305,
    CANOPY_NOTE_FUSION = 0x4306,
    CANOPY_NOTE_CHECK = 0x4307
};

enum CanopyCheckFlag {
    CANOPY_CHECK_NO_AUTOSYNC = 1 /* compiled with automatic synchronisation turned off */
};

enum CanopyKernelFlag {
    CANOPY_KERNEL_SIMT = 1 /* the last slot of the argument block is a CanopyGrid */
};

/* Limits for writers and readers. */
enum CanopyImageLimit {
    CANOPY_IMAGE_MAX_ARCHITECTURES = 16,
    CANOPY_IMAGE_MAX_KERNELS = 4096,
    CANOPY_IMAGE_MAX_TARGETS = 16,
    CANOPY_IMAGE_MAX_PARAMETERS = 128,
    CANOPY_IMAGE_MAX_ARGUMENTS = 65536, /* bytes of an argument block */
    CANOPY_IMAGE_MAX_ALIGNMENT = 4096,
    CANOPY_IMAGE_MAX_RATIO = 16,
    CANOPY_IMAGE_MAX_TEXT = 32768,
    CANOPY_IMAGE_MAX_PARTS = 1024,
    CANOPY_IMAGE_MAX_STEPS = 1024,     /* of one fused kernel */
    CANOPY_IMAGE_MAX_FUSION = 16 << 20 /* bytes of the JSON */
};

/* Layout of the argument block: each parameter starts at the next multiple of its alignment, at least 8; the size of
 * the block is a multiple of 8. */
#define CANOPY_ARGUMENT_ALIGNMENT 8u

/* Targets on x86-64 are the published microarchitecture levels; a processor runs code for its level and below. */
#if defined(__x86_64__)
#define CANOPY_BASELINE_LEVEL 2
static inline int canopy_machine_level(void) {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
        !__builtin_cpu_supports("fma"))
        return 2;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return 3;
    return 4;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
