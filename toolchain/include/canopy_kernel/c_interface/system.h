// SPDX-License-Identifier: Apache-2.0
// Functions of the C interface that move and compute nothing: registers of the core, barriers and flags, atomic modes,
// caches, the number of the block, and bits of words.
#ifndef CANOPY_KERNEL_C_INTERFACE_SYSTEM_H
#define CANOPY_KERNEL_C_INTERFACE_SYSTEM_H

#include "canopy_kernel/c_interface/support.h"

// Start, blocks and registers ----------------------------------------------------------------------------------------

inline void asc_init() { AscendC::InitSocState(); }

inline int64_t asc_get_block_idx() { return AscendC::GetBlockIdx(); }
inline int64_t asc_get_block_num() { return AscendC::GetBlockNum(); }
inline int64_t asc_get_sub_block_id() { return AscendC::GetSubBlockIdx(); }
inline int64_t asc_get_sub_block_num() { return AscendC::GetSubBlockNum(); }
inline int64_t asc_get_core_id() { return AscendC::GetBlockIdx(); }
inline int64_t asc_get_system_cycle() { return AscendC::GetSystemCycle(); }

inline int64_t asc_get_ctrl() { return static_cast<int64_t>(canopy::intrinsics::get_ctrl()); }
inline void asc_set_ctrl(uint64_t config) { canopy::intrinsics::set_ctrl(config); }
inline void asc_get_arch_ver(uint32_t& core_version) { core_version = __NPU_ARCH__; }
inline int64_t asc_get_program_counter() { return reinterpret_cast<intptr_t>(__builtin_return_address(0)); }
inline uint64_t asc_get_phy_buf_addr(uint64_t offset) {
    return reinterpret_cast<uintptr_t>(canopy::kernel::memory_base(canopy::kernel::Hardware::UB)) + offset;
}

// Registers of units that this device does not have.
inline int64_t asc_get_status() { return 0; }
inline int64_t asc_get_phy_stack_base() { return 0; }
inline int64_t asc_get_sys_virtual_base() { return 0; }
inline int64_t asc_get_smmu_tag_version() { return 0; }

// Caches: coherent here, so that only stores have to be finished -----------------------------------------------------

inline void asc_dcci_single(__gm__ void* dst, CANOPY_WHERE) { dcci(dst, cache_line_t::SINGLE_CACHE_LINE, where); }
inline void asc_ub_dcci_single(__ubuf__ void* dst, CANOPY_WHERE) {
    dcci(dst, cache_line_t::SINGLE_CACHE_LINE, dcci_dst_t::CACHELINE_UB, where);
}
inline void asc_dcci_entire_out(CANOPY_WHERE) { dcci(nullptr, cache_line_t::ENTIRE_DATA_CACHE, where); }
inline void asc_dcci_entire_all(CANOPY_WHERE) { dcci(nullptr, cache_line_t::ENTIRE_DATA_CACHE, where); }
inline void asc_dcci_entire_atomic(CANOPY_WHERE) { dcci(nullptr, cache_line_t::ENTIRE_DATA_CACHE, where); }
inline void asc_icache_preload(const void*, int64_t) {}
inline int64_t asc_get_icache_preload_status() { return 0; }
inline void asc_datacache_preload(__gm__ uint64_t*, int64_t) {}

// Barriers and flags -------------------------------------------------------------------------------------------------

inline void asc_sync(CANOPY_WHERE) { canopy::c_interface::finish(where); }
inline void asc_sync_vec(CANOPY_WHERE) { canopy::kernel::order_pipe(PIPE_V, "asc_sync_vec", where); }

namespace canopy::c_interface {

// Waits for one pipe with the help of a flag.
inline void wait_for(pipe_t pipe, int id, kernel::Where where) {
    kernel::check_event_id(id, where);
    kernel::tell_order("asc_sync", pipe, PIPE_S, where);
    kernel::Untold untold;
    kernel::order_pipe(pipe, "asc_sync", where);
}

}  // namespace canopy::c_interface

inline void asc_sync_mte2(int id, CANOPY_WHERE) { canopy::c_interface::wait_for(PIPE_MTE2, id, where); }
inline void asc_sync_mte3(int id, CANOPY_WHERE) { canopy::c_interface::wait_for(PIPE_MTE3, id, where); }

#define asc_sync_pipe(pipe) ::pipe_barrier(pipe)
#define asc_sync_notify(pipe, tpipe, id) ::set_flag(pipe, tpipe, id)
#define asc_sync_wait(pipe, tpipe, id) ::wait_flag(pipe, tpipe, id)
#define asc_sync_data_barrier(arg) canopy::intrinsics::dsb(arg)

// Flags between cores: all cores of one kind; the vector cores of a group; the cube core and the vector cores of a
// group; the cube core and one vector core.
#define asc_sync_block_arrive(pipe, flag_id) AscendC::CrossCoreSetFlag<0, pipe>(flag_id)
#define asc_sync_block_wait(pipe, flag_id) AscendC::CrossCoreWaitFlag<0, pipe>(flag_id)
#define asc_sync_subblock_arrive(pipe, flag_id) AscendC::CrossCoreSetFlag<1, pipe>(flag_id)
#define asc_sync_subblock_wait(pipe, flag_id) AscendC::CrossCoreWaitFlag<1, pipe>(flag_id)
#define asc_sync_inter_arrive(pipe, flag_id) AscendC::CrossCoreSetFlag<2, pipe>(flag_id)
#define asc_sync_inter_wait(pipe, flag_id) AscendC::CrossCoreWaitFlag<2, pipe>(flag_id)

// Locks between the pipes of a core, which never run at the same time here.
enum ascMutexExecuteMode { ASC_LOCK_BLOCK = 0, ASC_LOCK_NON_BLOCK = 1 };

// Atomic copies to global memory -------------------------------------------------------------------------------------

#define CANOPY_C_ATOMIC(name, operation, type)        \
    inline void asc_set_atomic_##name() {             \
        canopy::intrinsics::set_atomic_##type();      \
        canopy::intrinsics::set_atomic_##operation(); \
    }
CANOPY_C_ATOMIC(add_float, add, f32)
CANOPY_C_ATOMIC(add_float16, add, f16)
CANOPY_C_ATOMIC(add_bfloat, add, bf16)
CANOPY_C_ATOMIC(add_int, add, s32)
CANOPY_C_ATOMIC(add_int16, add, s16)
CANOPY_C_ATOMIC(add_int8, add, s8)
CANOPY_C_ATOMIC(max_float, max, f32)
CANOPY_C_ATOMIC(max_float16, max, f16)
CANOPY_C_ATOMIC(max_bfloat, max, bf16)
CANOPY_C_ATOMIC(max_int, max, s32)
CANOPY_C_ATOMIC(max_int16, max, s16)
CANOPY_C_ATOMIC(max_int8, max, s8)
CANOPY_C_ATOMIC(min_float, min, f32)
CANOPY_C_ATOMIC(min_float16, min, f16)
CANOPY_C_ATOMIC(min_bfloat, min, bf16)
CANOPY_C_ATOMIC(min_int, min, s32)
CANOPY_C_ATOMIC(min_int16, min, s16)
CANOPY_C_ATOMIC(min_int8, min, s8)
#undef CANOPY_C_ATOMIC
inline void asc_set_atomic_none() { AscendC::SetAtomicNone(); }

// Atomic stores of scalars: the registers of the mode; no function of this interface stores that way.
union asc_store_atomic_config {
    uint64_t config = 0;
    struct {
        uint64_t atomic_type : 3;
        uint64_t atomic_op : 2;
        uint64_t reserved1 : 59;
    };
};
inline void asc_get_store_atomic_config(asc_store_atomic_config& config) {
    config.config = canopy::kernel::core_state().c_interface.store_atomic;
}

namespace canopy::c_interface {

inline void set_store_atomic(uint16_t type, uint16_t operation) {
    asc_store_atomic_config config;
    config.atomic_type = type;
    config.atomic_op = operation;
    kernel::core_state().c_interface.store_atomic = config.config;
}

}  // namespace canopy::c_interface

// Bits of words ------------------------------------------------------------------------------------------------------

constexpr int64_t asc_ffs(uint64_t value) { return AscendC::GetSFFValue<1>(value); }
constexpr int64_t asc_ffz(uint64_t value) { return AscendC::GetSFFValue<0>(value); }
constexpr int64_t asc_clz(uint64_t value_in) { return AscendC::ScalarCountLeadingZero(value_in); }
constexpr int64_t asc_popc(uint64_t value) { return AscendC::ScalarGetCountOfValue<1>(value); }
constexpr int64_t asc_zero_bits_cnt(uint64_t value) { return AscendC::ScalarGetCountOfValue<0>(value); }
constexpr uint64_t asc_set_nthbit(uint64_t bits, int64_t idx) { return canopy::intrinsics::sbitset1(bits, idx); }
constexpr uint64_t asc_clear_nthbit(uint64_t bits, int64_t idx) { return canopy::intrinsics::sbitset0(bits, idx); }
// Bits below the sign that equal it, up to the first that does not; -1 if all do.
constexpr int64_t asc_sflbits(int64_t value) {
    const auto different = static_cast<uint64_t>(value ^ (value >> 63));
    return different == 0 ? -1 : __builtin_clzll(different) - 1;
}

// Vector functions of both chips -------------------------------------------------------------------------------------

inline constexpr int ASC_C_API_MRGSORT_ELEMENT_LEN = 4;

template <class T>
inline void asc_bitsort(__ubuf__ T* dst, __ubuf__ T* src0, __ubuf__ uint32_t* src1, int32_t repeat, CANOPY_WHERE) {
    using canopy::kernel::unified;
    AscendC::Sort32(unified(dst), unified(src0), unified(src1), repeat, where);
}
template <class T>
inline void asc_mrgsort4(__ubuf__ T* dst, __ubuf__ T* src[ASC_C_API_MRGSORT_ELEMENT_LEN], uint8_t repeat,
                         uint16_t element_length_0, uint16_t element_length_1, uint16_t element_length_2,
                         uint16_t element_length_3, bool if_exhausted_suspension, uint8_t valid_bit, CANOPY_WHERE) {
    using canopy::kernel::unified;
    const uint16_t lengths[] = {element_length_0, element_length_1, element_length_2, element_length_3};
    AscendC::MrgSort(unified(dst),
                     AscendC::MrgSortSrcList<T>(unified(src[0]), unified(src[1]), unified(src[2]), unified(src[3])),
                     AscendC::MrgSort4Info(lengths, if_exhausted_suspension, valid_bit, repeat), where);
}
template <class T>
inline void asc_transpose(__ubuf__ T* dst, __ubuf__ T* src, CANOPY_WHERE) {
    static_assert(canopy::kernel::is_any_of<T, int16_t, uint16_t>,
                  "asc_transpose: the element types are int16_t, uint16_t");
    canopy::intrinsics::vtranspose(dst, src, where);
}
CANOPY_C_SYNC(asc_bitsort, (class T), (T * dst, T* src0, uint32_t* src1, int32_t repeat), (dst, src0, src1, repeat))
CANOPY_C_SYNC(asc_mrgsort4, (class T),
              (T * dst, T* src[4], uint8_t repeat, uint16_t element_length_0, uint16_t element_length_1,
               uint16_t element_length_2, uint16_t element_length_3, bool if_exhausted_suspension, uint8_t valid_bit),
              (dst, src, repeat, element_length_0, element_length_1, element_length_2, element_length_3,
               if_exhausted_suspension, valid_bit))
CANOPY_C_SYNC(asc_transpose, (class T), (T * dst, T* src), (dst, src))

// The registers with the addresses of a transposition of 16 rows, which no function of this interface reads.
enum ub_addr8_t : uint8_t { VA0, VA1, VA2, VA3, VA4, VA5, VA6, VA7 };
template <class T>
inline void asc_set_va_reg(ub_addr8_t, __ubuf__ T**) {}

#endif
