// SPDX-License-Identifier: Apache-2.0
// The class behind AscendC::Matmul: one object per matrix product. A program sets the tiling and the operands, and gets
// the result tile by tile (Iterate, GetTensorC) or as a whole (IterateAll).
//
// A product belongs to one block.
#ifndef CANOPY_KERNEL_MATMUL_PRODUCT_H
#define CANOPY_KERNEL_MATMUL_PRODUCT_H

#include "canopy_kernel/cube/matmul_checking.h"
#include "canopy_kernel/cube/matmul_tile.h"

namespace canopy::kernel {

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto& MM_CFG = CFG_NORM,
          class MM_CB = MatmulCallBackFunc<nullptr, nullptr, nullptr>,
          template <const auto&, typename, typename, typename, typename, typename> class POLICY =
              AscendC::Impl::Detail::MatmulPolicy>
class MatrixProduct : OperandLines<is_checking_variant> {
    using View = MatrixView;
    using Policy = POLICY<MM_CFG, MatrixProduct<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB>, A_TYPE, B_TYPE,
                          C_TYPE, BIAS_TYPE>;
    static constexpr const MatmulConfig& config = product_config(MM_CFG);
    static constexpr bool copies_a = is_function<MM_CB::CopyA1Ptr>;
    static constexpr bool copies_b = is_function<MM_CB::CopyB1Ptr>;
    static constexpr bool copies_out = is_function<MM_CB::DataCopyOutPtr>;
    static constexpr bool sparse = is_sparse_operand<B_TYPE>;

public:
    using AType = A_TYPE;
    using BType = B_TYPE;
    using CType = C_TYPE;
    using BiasType = BIAS_TYPE;
    using SrcT = typename A_TYPE::T;
    using SrcAT = typename A_TYPE::T;
    using SrcBT = typename B_TYPE::T;
    using DstT = typename C_TYPE::T;
    using BiasT = typename BIAS_TYPE::T;
    using L0cT = typename GetMmDstType<SrcAT>::Type;

    // --- set-up -----------------------------------------------------------------------------------------------------

    void Init(const TCubeTiling* tiling, TPipe* = nullptr, Where where = here()) {
        decide_who_computes();
        if (tiling != nullptr) tiling_ = *tiling;
        apply_constants(tiling_, MM_CFG);
        if (!active_) return;
        if (tiling_.baseM <= 0 || tiling_.baseN <= 0)
            fail(where, "Matmul: the tiling has a base of %d x %d; use GetTiling of the host library", tiling_.baseM,
                 tiling_.baseN);
        ready_ = true;
        m_ = tiling_.M, n_ = tiling_.N, ka_ = tiling_.Ka, kb_ = tiling_.Kb, nc_ = 0;
        single_m_ = tiling_.singleCoreM, single_n_ = tiling_.singleCoreN, single_k_ = tiling_.singleCoreK;
        rewind();
    }
    void SetSubBlockIdx(uint8_t) {}
    uint8_t GetSubBlockIdx() const { return static_cast<uint8_t>(AscendC::GetSubBlockIdx()); }
    template <class T>
    void SetWorkspace(GlobalTensor<T>& workspace) {
        workspace_ = reinterpret_cast<DstT*>(workspace.GetPhyAddr(0));
    }
    template <class T>
    void SetWorkspace(__gm__ const T* address, int = 0) {
        workspace_ = reinterpret_cast<DstT*>(const_cast<T*>(address));
    }
    void SetLocalWorkspace(const LocalTensor<uint8_t>&) {}
    void SetUserDefInfo(const uint64_t tilingPtr) { user_tiling_ = tilingPtr; }
    template <class T>
    void SetSelfDefineData(T data) {
        static_assert(sizeof(T) <= sizeof(uint64_t), "SetSelfDefineData takes an address or a number of 64 bits");
        user_data_ = (uint64_t)data;
    }
    // Ignored: fp32 factors are multiplied as they are.
    void SetHF32(bool = false, int32_t = 0) {}

    void SetOrgShape(int orgM, int orgN, int orgK) { SetOrgShape(orgM, orgN, orgK, orgK, 0); }
    void SetOrgShape(int orgM, int orgN, int orgKa, int orgKb, int orgKc = 0) {
        m_ = orgM, n_ = orgN, ka_ = orgKa, kb_ = orgKb, nc_ = orgKc;
        rewind();
    }
    void SetSingleShape(int singleM, int singleN, int singleK) { SetTail(singleM, singleN, singleK); }
    void SetTail(int tailM = -1, int tailN = -1, int tailK = -1) {
        if (tailM != -1) single_m_ = tailM;
        if (tailN != -1) single_n_ = tailN;
        if (tailK != -1) single_k_ = tailK;
        rewind();
    }

    // --- operands ---------------------------------------------------------------------------------------------------

    template <class T>
    void SetTensorA(const GlobalTensor<T>& gm, bool isTransposeA = false) {
        set_a(gm.GetPhyAddr(0), false, isTransposeA);
    }
    template <class T>
    void SetTensorA(const LocalTensor<T>& leftMatrix, bool isTransposeA = false, Where where = here()) {
        this->set_line_a(where);
        set_a(leftMatrix.GetPhyAddr(), true, isTransposeA);
    }
    void SetTensorA(SrcAT aScalar) {
        a_scalar_ = aScalar;
        set_a(nullptr, false, false);
    }
    template <class T>
    void SetTensorB(const GlobalTensor<T>& gm, bool isTransposeB = false) {
        set_b(gm.GetPhyAddr(0), false, isTransposeB);
    }
    template <class T>
    void SetTensorB(const LocalTensor<T>& rightMatrix, bool isTransposeB = false, Where where = here()) {
        this->set_line_b(where);
        set_b(rightMatrix.GetPhyAddr(), true, isTransposeB);
    }
    void SetTensorB(SrcBT bScalar) {
        b_scalar_ = bScalar;
        set_b(nullptr, false, false);
    }
    // The tensors below may be global or local.
    template <class Tensor>
    void SetTensorScaleA(const Tensor& scales, bool isTransposeScaleA = false) {
        a_scales_ = reinterpret_cast<const uint8_t*>(scales.GetPhyAddr());
        a_scales_turned_ = isTransposeScaleA;
    }
    template <class Tensor>
    void SetTensorScaleB(const Tensor& scales, bool isTransposeScaleB = false) {
        b_scales_ = reinterpret_cast<const uint8_t*>(scales.GetPhyAddr());
        b_scales_turned_ = isTransposeScaleB;
    }
    template <class Tensor>
    void SetBias(const Tensor& bias) {
        bias_ = bias.GetPhyAddr();
    }
    void ClearBias() { bias_ = nullptr; }
    void DisableBias() { bias_ = nullptr; }
    void SetQuantScalar(const uint64_t quantScalar) {
        scaled_ = true;
        scaling_.scalar = quantScalar;
        scaling_.columns = nullptr;
    }
    template <class Tensor>
    void SetQuantVector(const Tensor& words) {
        scaled_ = true;
        scaling_.columns = words.GetPhyAddr();
    }
    // The places of the stored values: a matrix of N rows and K / 8 bytes, in fractals of 16 rows by 8 bytes that are
    // stored column by column.
    void SetSparseIndex(const GlobalTensor<uint8_t>& indexGlobal) {
        static_assert(sparse && is_same<SrcAT, int8_t> && is_same<SrcBT, int8_t>,
                      "SetSparseIndex: B is a SparseMatmulType, and A and B are int8_t");
        sparse_index_ = indexGlobal.GetPhyAddr();
    }
    template <class... T>
    __attribute__((unavailable("AscendC::Matmul::SetAntiQuantScalar is not supported by Canopy yet"))) void
    SetAntiQuantScalar(const T&...) {}
    template <class... T>
    __attribute__((unavailable("AscendC::Matmul::SetAntiQuantVector is not supported by Canopy yet"))) void
    SetAntiQuantVector(const T&...) {}

    // --- tile by tile -----------------------------------------------------------------------------------------------

    // Computes the next tile; false if there is none. Without `sync`, every GetTensorC<false> computes the next one
    // itself.
    template <bool sync = true>
    bool Iterate(bool enPartialSum = false, Where where = here()) {
        if (!active_) return false;
        if constexpr (!sync) {
            rewind();
            asynchronous_ = true;
            partial_ = enPartialSum;
            return true;
        } else {
            const bool made = next_tile(enPartialSum, where);
            if (is_checking_variant && made) tell_tile("Iterate", where);
            return made;
        }
    }
    // Computes into L0C memory of the program.
    template <bool sync = true, class T>
    bool Iterate(bool enPartialSum, const LocalTensor<T>& localCMatrix, Where where = here()) {
        own_tile_ = reinterpret_cast<L0cT*>(localCMatrix.GetPhyAddr());
        return Iterate<true>(enPartialSum, where);
    }

    template <bool sync = true>
    void GetTensorC(const GlobalTensor<DstT>& gm, uint8_t enAtomic = 0, bool enSequentialWrite = false,
                    Where where = here()) {
        if (!take_tile(where)) return;
        const WritesResult result("GetTensorC", true, sync, where);
        store_global(gm.GetPhyAddr(0), enAtomic, enSequentialWrite);
    }
    template <bool sync = true, bool doPad = false>
    void GetTensorC(const LocalTensor<DstT>& co2Local, uint8_t = 0, bool = false, uint32_t = 0, uint32_t = 0,
                    uint32_t = 0, uint32_t = 0, Where where = here()) {
        if (!take_tile(where)) return;
        const WritesResult result("GetTensorC", false, sync, where);
        store_local(own_buffer<config.enableMixDualMaster>(co2Local, where));
    }
    template <bool sync = true>
    void GetTensorC(const GlobalTensor<DstT>& gm, const LocalTensor<DstT>& co2Local, uint8_t enAtomic = 0,
                    bool enSequentialWrite = false, Where where = here()) {
        if (!take_tile(where)) return;
        {
            const WritesResult result("GetTensorC", true, sync, where);
            store_global(gm.GetPhyAddr(0), enAtomic, enSequentialWrite);
        }
        const WritesResult result("GetTensorC", false, sync, where);
        store_local(own_buffer<config.enableMixDualMaster>(co2Local, where));
    }
    // Stores the tile in the workspace and returns it.
    template <bool sync = true>
    GlobalTensor<DstT> GetTensorC(uint8_t enAtomic = 0, bool = false, Where where = here()) {
        GlobalTensor<DstT> tensor;
        if (!take_tile(where)) return tensor;
        if (workspace_ == nullptr) fail(where, "Matmul: GetTensorC without a tensor needs SetWorkspace");
        const uint64_t size = static_cast<uint64_t>(tiling_.baseM) * tiling_.baseN;
        DstT* place = workspace_ + static_cast<uint64_t>(tile_) * size;
        tensor.SetGlobalBuffer(place, size);
        const WritesResult result("GetTensorC", true, sync, where);
        store_global(place, enAtomic, true);
        return tensor;
    }
    template <bool sync = true>
    void AsyncGetTensorC(const LocalTensor<DstT>& co2Local, Where where = here()) {
        GetTensorC<sync>(co2Local, 0, false, 0, 0, 0, 0, where);
    }
    using MatrixOffset = TileOffset;
    MatrixOffset GetOffsetC() const {
        const Tile tile = tile_at(tile_);
        return {static_cast<int32_t>(tile.m * row_length_c() + tile.n), static_cast<int32_t>(tile.m),
                static_cast<int32_t>(tile.n), static_cast<int32_t>(tile.rows), static_cast<int32_t>(tile.columns)};
    }

    // --- as a whole -------------------------------------------------------------------------------------------------

    template <bool sync = true>
    void IterateAll(const GlobalTensor<DstT>& gm, uint8_t enAtomic = 0, bool enSequentialWrite = false, bool = false,
                    bool = false, Where where = here()) {
        tell_operands("IterateAll", where);
        const WritesResult result("IterateAll", true, sync, where);
        all_tiles(gm.GetPhyAddr(0), true, enAtomic, enSequentialWrite, where);
    }
    template <bool sync = true>
    void IterateAll(const LocalTensor<DstT>& ubCmatrix, uint8_t enAtomic = 0, Where where = here()) {
        tell_operands("IterateAll", where);
        const WritesResult result("IterateAll", false, sync, where);
        all_tiles(own_buffer<config.enableMixDualMaster>(ubCmatrix, where), false, enAtomic, false, where);
    }
    void WaitIterateAll(Where where = here()) { tell_all_complete(active_, "WaitIterateAll", where); }
    void WaitIterateBatch(Where where = here()) { tell_all_complete(active_, "WaitIterateBatch", where); }
    void WaitGetTensorC(Where where = here()) { tell_all_complete(active_, "WaitGetTensorC", where); }
    // Frees the chip's resources for the product; the object may be reused.
    void End() { rewind(); }

    // --- batches ----------------------------------------------------------------------------------------------------

    void SetBatchNum(int32_t batchA, int32_t batchB) { batches_a_ = batchA, batches_b_ = batchB; }

    template <bool sync = true, bool waitIterateBatch = false>
    void IterateBatch(const GlobalTensor<DstT>& gm, uint32_t batchA, uint32_t batchB, bool enSequentialWrite,
                      const uint32_t matrixStrideA = 0, const uint32_t matrixStrideB = 0,
                      const uint32_t matrixStrideC = 0, const bool enPartialSum = false, const uint8_t enAtomic = 0,
                      Where where = here()) {
        batch<sync>(gm.GetPhyAddr(0), true, {batchA, batchB, matrixStrideA, matrixStrideB, matrixStrideC},
                    enSequentialWrite, enPartialSum ? 1 : enAtomic, where);
    }
    template <bool sync = true, bool waitIterateBatch = false>
    void IterateBatch(const LocalTensor<DstT>& ubCmatrix, uint32_t batchA, uint32_t batchB, bool enSequentialWrite,
                      const uint32_t matrixStrideA = 0, const uint32_t matrixStrideB = 0,
                      const uint32_t matrixStrideC = 0, const bool enPartialSum = false, const uint8_t enAtomic = 0,
                      Where where = here()) {
        batch<sync>(ubCmatrix.GetPhyAddr(), false, {batchA, batchB, matrixStrideA, matrixStrideB, matrixStrideC},
                    enSequentialWrite, enPartialSum ? 1 : enAtomic, where);
    }
    // Uses the batch counts of SetBatchNum.
    template <class Flag, only_if<is_same<Flag, bool>, int> = 0>
    void IterateBatch(const GlobalTensor<DstT>& gm, Flag enPartialSum, uint8_t enAtomic, bool enSequentialWrite,
                      const uint32_t matrixStrideA = 0, const uint32_t matrixStrideB = 0,
                      const uint32_t matrixStrideC = 0, Where where = here()) {
        IterateBatch<true, false>(gm, static_cast<uint32_t>(batches_a_), static_cast<uint32_t>(batches_b_),
                                  enSequentialWrite, matrixStrideA, matrixStrideB, matrixStrideC, enPartialSum,
                                  enAtomic, where);
    }
    // Calls IterateBatch `batchLoop` times, into the workspace; GetBatchTensorC returns the results in order.
    template <bool sync = true, bool waitIterateBatch = false>
    void IterateNBatch(const uint32_t batchLoop, uint32_t batchA, uint32_t batchB, bool enSequentialWrite,
                       const uint32_t matrixStrideA = 0, const uint32_t matrixStrideB = 0,
                       const uint32_t matrixStrideC = 0, const bool enPartialSum = false, const uint8_t enAtomic = 0,
                       Where where = here()) {
        if (!active_) return;
        if (workspace_ == nullptr) fail(where, "Matmul: IterateNBatch needs SetWorkspace");
        const Batch sizes{batchA, batchB, matrixStrideA, matrixStrideB, matrixStrideC};
        const void* first_a = a_;
        const void* first_b = b_;
        for (uint32_t i = 0; i < batchLoop; ++i) {
            a_ = shifted<SrcAT>(first_a, layout_a(sizes).offset(static_cast<int64_t>(i) * batchA));
            b_ = shifted<SrcBT>(first_b, layout_b(sizes).offset(static_cast<int64_t>(i) * batchB));
            DstT* place = workspace_ + batch_size(sizes) * i;
            batch<sync>(place, true, sizes, enSequentialWrite, enPartialSum ? 1 : enAtomic, where);
        }
        a_ = first_a, b_ = first_b;
        batches_taken_ = 0;
    }
    template <bool sync = true>
    GlobalTensor<DstT> GetBatchTensorC(uint32_t batchA, uint32_t batchB, bool = false) {
        GlobalTensor<DstT> tensor;
        if (!active_) return tensor;
        const uint64_t size = batch_size({batchA, batchB, 0, 0, 0});
        tensor.SetGlobalBuffer(workspace_ + size * batches_taken_++, size);
        return tensor;
    }
    template <bool sync = true>
    GlobalTensor<DstT> GetBatchC(uint32_t batchA, uint32_t batchB, bool enSequentialWrite = false) {
        return GetBatchTensorC<sync>(batchA, batchB, enSequentialWrite);
    }
    template <bool sync = true>
    void GetBatchTensorC(const LocalTensor<DstT>& c, uint32_t batchA, uint32_t batchB, bool enSequentialWrite = false,
                         Where where = here()) {
        if (!active_) return;
        const GlobalTensor<DstT> tensor = GetBatchTensorC<sync>(batchA, batchB, enSequentialWrite);
        const Instruction instruction(PIPE_MTE2, "GetBatchTensorC", where);
        instruction.reads("src", tensor, tensor.GetSize() * sizeof(DstT));
        instruction.writes("dst", c, tensor.GetSize() * sizeof(DstT));
        __builtin_memcpy(c.GetPhyAddr(), tensor.GetPhyAddr(), tensor.GetSize() * sizeof(DstT));
    }

    // For REGIST_MATMUL_OBJ: true if this core continues with the program.
    bool decide_who_computes() {
        const CanopyBlock& block = current_block();
        const bool cube = block.core_type == CANOPY_CORE_CUBE;
        active_ = config.enableMixDualMaster ? cube || coupled : !cube || block.vector_count == 0;
        if (reaches_partners && active_ && on_vector_core()) core_state().cube.multiplies = true;
        return active_ || config.enableMixDualMaster;
    }

private:
    using Tile = ProductTile;
    using Batch = BatchSizes;

    void rewind() {
        tile_ = -1;
        asynchronous_ = false;
    }
    void set_a(const void* data, bool local, bool transposed) {
        a_ = data, a_local_ = local, a_turned_ = transposed;
        rewind();
    }
    void set_b(const void* data, bool local, bool transposed) {
        b_ = data, b_local_ = local, b_turned_ = transposed;
        rewind();
    }
    template <class T>
    static const void* shifted(const void* data, int64_t elements) {
        return advance(static_cast<const T*>(data), static_cast<uint64_t>(elements));
    }

    // --- views ------------------------------------------------------------------------------------------------------

    static int64_t positive(int64_t value, int64_t otherwise) { return value > 0 ? value : otherwise; }
    int64_t rows_a() const { return a_local_ ? single_m_ : positive(m_, single_m_); }
    int64_t depth_a() const { return a_local_ ? single_k_ : positive(ka_, single_k_); }
    int64_t depth_b() const { return b_local_ ? single_k_ : positive(kb_, single_k_); }
    int64_t columns_b() const { return b_local_ ? single_n_ : positive(n_, single_n_); }
    int64_t row_length_c() const { return positive(nc_, positive(n_, single_n_)); }

    View left() const {
        if (a_ == nullptr) {
            View view = make_view<SrcAT>(&a_scalar_);
            return view;
        }
        constexpr bool fractal = A_TYPE::format == CubeFormat::NZ;
        const int64_t leading = fractal != a_turned_ ? rows_a() : depth_a();
        if (fractal) return stored_view<SrcAT>(a_, CubeFormat::NZ, a_turned_ ? depth_a() : rows_a(), a_turned_);
        return stored_view<SrcAT>(a_, CubeFormat::ND, a_apart_ != 0 ? a_apart_ : leading, a_turned_);
    }
    View right() const {
        if (b_ == nullptr) return make_view<SrcBT>(&b_scalar_);
        if (B_TYPE::format == CubeFormat::NZ)
            return stored_view<SrcBT>(b_, CubeFormat::NZ, b_turned_ ? columns_b() : depth_b(), b_turned_);
        const int64_t leading = b_turned_ ? depth_b() : columns_b();
        return stored_view<SrcBT>(b_, CubeFormat::ND, b_apart_ != 0 ? b_apart_ : leading, b_turned_);
    }
    // The row length (ND) or the number of rows (NZ, one column after the other) of the whole result.
    int64_t leading_c(bool global) const {
        if (C_TYPE::format == CubeFormat::NZ || C_TYPE::format == CubeFormat::COLUMN_MAJOR)
            return global ? positive(m_, single_m_) : single_m_;
        const int64_t length = global ? (c_apart_ != 0 ? c_apart_ : row_length_c()) : single_n_;
        if (C_TYPE::format != CubeFormat::ND_ALIGN) return length;
        return static_cast<int64_t>(round_up(static_cast<uint64_t>(length), 32 / sizeof(DstT)));
    }
    void set_scales(CanopyProduct& product, int64_t m, int64_t n, int64_t k) const {
        const int64_t pairs_a = (depth_a() + 63) / 64, pairs_b = (depth_b() + 63) / 64;
        if (a_scales_ != nullptr) {
            product.a_scale = a_scales_turned_ ? CanopyScale{a_scales_, 2, 2 * rows_a(), 1}
                                               : CanopyScale{a_scales_, 2 * pairs_a, 2, 1};
            product.a_scale.data += m * product.a_scale.stride + k / 64 * product.a_scale.pair_stride;
        }
        if (b_scales_ != nullptr) {
            product.b_scale = b_scales_turned_ ? CanopyScale{b_scales_, 2 * pairs_b, 2, 1}
                                               : CanopyScale{b_scales_, 2, 2 * columns_b(), 1};
            product.b_scale.data += n * product.b_scale.stride + k / 64 * product.b_scale.pair_stride;
        }
    }
    void set_bias(CanopyProduct& product, int64_t n) const {
        if (bias_ == nullptr) return;
        product.bias = static_cast<const BiasT*>(bias_) + n;
        product.bias_type = product_element<BiasT>();
    }

    // --- tiles ------------------------------------------------------------------------------------------------------

    int64_t tiles_m() const { return (single_m_ + tiling_.baseM - 1) / tiling_.baseM; }
    int64_t tiles_n() const { return (single_n_ + tiling_.baseN - 1) / tiling_.baseN; }
    Tile tile_at(int64_t index) const {
        const bool along_n = config.iterateOrder == IterateOrder::UNDEF ? tiling_.iterateOrder == 1
                                                                        : config.iterateOrder == IterateOrder::ORDER_N;
        const int64_t m = along_n ? index / tiles_n() : index % tiles_m();
        const int64_t n = along_n ? index % tiles_n() : index / tiles_m();
        return {m * tiling_.baseM, n * tiling_.baseN,
                static_cast<uint32_t>(smaller<int64_t>(tiling_.baseM, single_m_ - m * tiling_.baseM)),
                static_cast<uint32_t>(smaller<int64_t>(tiling_.baseN, single_n_ - n * tiling_.baseN))};
    }
    Tile whole_share() const { return {0, 0, static_cast<uint32_t>(single_m_), static_cast<uint32_t>(single_n_)}; }
    bool left_out(const Tile& tile) const {
        if (Policy::triangle > 0) return tile.m >= tile.n + tile.columns;
        if (Policy::triangle < 0) return tile.n >= tile.m + tile.rows;
        return false;
    }

    void require_ready(Where where) const {
        if (!ready_) fail(where, "Matmul: no tiling yet; call REGIST_MATMUL_OBJ with a tiling or Init first");
        if (single_m_ <= 0 || single_n_ <= 0 || single_k_ <= 0)
            fail(where, "Matmul: a share of %lld x %lld x %lld (M, N, K)", static_cast<long long>(single_m_),
                 static_cast<long long>(single_n_), static_cast<long long>(single_k_));
    }

    // L0C memory for the current tile.
    L0cT* tile_memory(const Tile& tile, Where where) {
        if (own_tile_ != nullptr) return own_tile_;
        const uint64_t bytes = round_up(tile.rows, 16) * round_up(tile.columns, 16) * sizeof(L0cT);
        const auto& memory = core().memory[static_cast<int>(Hardware::L0C)];
        if (bytes > memory.size)
            fail(where, "Matmul: a tile of %u x %u needs %llu bytes of L0C, which has %u", tile.rows, tile.columns,
                 static_cast<unsigned long long>(bytes), memory.size);
        if (l0c_size_ < bytes) {
            const uint32_t used = core_state().pipe.used[static_cast<int>(Hardware::L0C)];
            l0c_ = reinterpret_cast<L0cT*>(bytes <= memory.size - used ? take_memory(Hardware::L0C, bytes, where)
                                                                       : memory.base);
            l0c_size_ = bytes;
        }
        return l0c_;
    }

    bool next_tile(bool partial, Where where) {
        require_ready(where);
        do {
            if (tile_ + 1 >= tiles_m() * tiles_n()) return false;
            ++tile_;
        } while (left_out(tile_at(tile_)));
        make_tile(tile_at(tile_), partial, where);
        return true;
    }

    void make_tile(const Tile& tile, bool accumulate, Where where) {
        L0cT* memory = tile_memory(tile, where);
        View result = make_view<L0cT>(memory);
        result.row_stride = 16;
        result.column_stride = 1;
        result.blocks = {0, 16, 0, static_cast<int64_t>(round_up(tile.rows, 16)) * 16};
        CanopyProduct product{};
        set_result(product, result);
        product.m = tile.rows;
        product.n = tile.columns;
        product.accumulate = accumulate;
        if (!accumulate) set_bias(product, tile.n);
        if constexpr (sparse) return make_sparse_tile(product, tile, where);
        const int64_t step = copies_a || copies_b ? positive(tiling_.baseK, single_k_) : single_k_;
        for (int64_t k = 0; k < single_k_; k += step) {
            product.k = smaller(step, single_k_ - k);
            set_operands(product, tile, k, where);
            multiply(product);
            product.accumulate = 1;
            product.bias = nullptr;
        }
    }

    // The stored values are half of B, so its rows along k count for two.
    void make_sparse_tile(CanopyProduct& product, const Tile& tile, Where where) const {
        require_sparse(sparse_index_, single_k_, where);
        product.k = single_k_;
        const SparseMatrix matrix =
            sparse_view(b_, sparse_index_, B_TYPE::format, depth_b() / 2, columns_b(), b_turned_);
        const View a = left();
        multiply_sparse(product, matrix, 0, tile.n,
                        [&](CanopyProduct& part, int64_t k) { set_left(part, a.from(tile.m, k, where)); });
    }

    void set_operands(CanopyProduct& product, const Tile& tile, int64_t k, Where where) const {
        const uint32_t depth = static_cast<uint32_t>(product.k);
        // Copied by the program: fractals in L1, those of B after those of A.
        const uint64_t bytes_a = bytes_of<SrcAT>(round_up(tile.rows, 32) * round_up(depth, 64));
        const auto& l1 = core().memory[static_cast<int>(Hardware::L1)];
        if constexpr (copies_a) {
            MM_CB::CopyA1Ptr(tensor_in_l1(l1.base, bytes_a), a_, static_cast<int>(tile.m / tiling_.baseM),
                             static_cast<int>(k / tiling_.baseK), static_cast<int>(tile.rows), static_cast<int>(depth),
                             user_tiling_, user_data_);
            set_left(product, stored_view<SrcAT>(l1.base, CubeFormat::NZ, a_turned_ ? depth : tile.rows, a_turned_));
        } else {
            set_left(product, left().from(tile.m, k, where));
        }
        if constexpr (copies_b) {
            unsigned char* place = l1.base + (copies_a ? bytes_a : 0);
            const uint64_t bytes = bytes_of<SrcBT>(round_up(tile.columns, 64) * round_up(depth, 64));
            MM_CB::CopyB1Ptr(tensor_in_l1(place, bytes), b_, static_cast<int>(k / tiling_.baseK),
                             static_cast<int>(tile.n / tiling_.baseN), static_cast<int>(depth),
                             static_cast<int>(tile.columns), user_tiling_, user_data_);
            set_right(product, stored_view<SrcBT>(place, CubeFormat::NZ, b_turned_ ? tile.columns : depth, b_turned_));
        } else {
            set_right(product, right().from(k, tile.n, where));
        }
        set_scales(product, tile.m, tile.n, k);
    }

    // --- results ----------------------------------------------------------------------------------------------------

    ResultScaling scaling() const {
        ResultScaling scaling = scaling_;
        scaling.mode = scaling_mode<DstT, L0cT>(scaled_, scaling_.columns != nullptr);
        return scaling;
    }
    const L0cT* memory_of_tile() const { return own_tile_ != nullptr ? own_tile_ : l0c_; }

    bool take_tile(Where where) {
        if (!active_) return false;
        if (asynchronous_ && !next_tile(partial_, where))
            fail(where, "Matmul: GetTensorC after the last tile of this product");
        if (asynchronous_) tell_tile("GetTensorC", where);
        if (tile_ < 0) fail(where, "Matmul: GetTensorC without a tile; call Iterate first");
        return true;
    }

    void store_global(DstT* gm, uint8_t atomic, bool sequential) {
        const Tile tile = tile_at(tile_);
        const AtomicOutput output(atomic, element_kind<DstT>);
        if (sequential) {
            const bool by_columns = C_TYPE::format == CubeFormat::NZ || C_TYPE::format == CubeFormat::COLUMN_MAJOR;
            write({gm, C_TYPE::format, by_columns ? tile.rows : tile.columns, true}, tile, 0, 0);
        } else {
            write({gm, C_TYPE::format, leading_c(true), true}, tile, tile.m, tile.n);
        }
    }
    // Stores a single tile in local memory; its rows start at multiples of 32 bytes.
    void store_local(DstT* local) {
        const Tile tile = tile_at(tile_);
        const bool by_columns = C_TYPE::format == CubeFormat::NZ || C_TYPE::format == CubeFormat::COLUMN_MAJOR;
        const int64_t leading =
            by_columns ? tile.rows : static_cast<int64_t>(round_up(tile.columns, 32 / sizeof(DstT)));
        write({local, C_TYPE::format, leading, false}, tile, 0, 0);
    }

    void write(const TileTarget& target, const Tile& tile, int64_t row, int64_t column) {
        if constexpr (is_checking_variant && !copies_out)
            add_product_result<DstT>(target, row, column, tile.rows, tile.columns);
        if constexpr (copies_out) {
            const DataCopyOutParams params = copy_out_params<L0cT>(target, tile, scaling());
            MM_CB::DataCopyOutPtr(place_of_tile<DstT>(target, row, column), tensor_of_sums(memory_of_tile(), tile),
                                  &params, user_tiling_, user_data_);
        } else {
            store_tile<DstT>(target, memory_of_tile(), row, column, tile.rows, tile.columns, scaling(),
                             static_cast<uint32_t>(tile.n));
        }
    }

    // Result types that the device's product writes directly.
    static constexpr bool simple_result =
        is_same<DstT, L0cT> || (is_same<L0cT, float> && is_any_of<DstT, half, bfloat16_t>);

    void all_tiles(DstT* c, bool global, uint8_t atomic, bool sequential, Where where) {
        if (!active_) return;
        require_ready(where);
        rewind();
        const AtomicOutput output(atomic, element_kind<DstT>);
        if constexpr (simple_result && !sparse && !copies_a && !copies_b && !copies_out && Policy::triangle == 0) {
            if (!scaled_ && !sequential && output.none()) return whole(c, global);
        }
        const TileTarget target{c, C_TYPE::format, leading_c(global), global};
        while (next_tile(false, where)) {
            const Tile tile = tile_at(tile_);
            if (sequential)
                write({c + tile_ * tiling_.baseM * tiling_.baseN, C_TYPE::format, tile.columns, global}, tile, 0, 0);
            else
                write(target, tile, tile.m, tile.n);
        }
        rewind();
    }

    void whole(DstT* c, bool global) {
        CanopyProduct product{};
        set_left(product, left());
        set_right(product, right());
        const TileTarget target{c, C_TYPE::format, leading_c(global), global};
        if constexpr (is_checking_variant) add_product_result<DstT>(target, 0, 0, single_m_, single_n_);
        set_result(product, result_view<DstT>(target));
        product.m = single_m_;
        product.n = single_n_;
        product.k = single_k_;
        product.saturate = 1;
        set_bias(product, 0);
        set_scales(product, 0, 0, 0);
        multiply(product);
    }

    // --- the checking variant ---------------------------------------------------------------------------------------

    friend ProductTeller;
    void tell_tile(const char* name, Where where) const {
        if constexpr (is_checking_variant) ProductTeller::tell_operands(*this, tile_at(tile_), name, where);
    }
    void tell_operands(const char* name, Where where) const {
        if constexpr (is_checking_variant)
            if (active_ && ready_) ProductTeller::tell_operands(*this, whole_share(), name, where);
    }

    // --- batches ----------------------------------------------------------------------------------------------------

    // Matrices of `rows` x `length` in the layout of the operand. The five numbers come from the tiling.
    BatchLayout layout_a(const Batch& sizes) const {
        return batch_layout(A_TYPE::layout, rows_a(), depth_a(), sizes.stride_a, layout_sizes_a(tiling_));
    }
    BatchLayout layout_b(const Batch& sizes) const {
        return batch_layout(B_TYPE::layout, depth_b(), columns_b(), sizes.stride_b, layout_sizes_b(tiling_));
    }
    BatchLayout layout_c(const Batch& sizes, bool packed) const {
        return batch_layout(packed ? LayoutMode::NORMAL : C_TYPE::layout, single_m_, leading_c(!packed), sizes.stride_c,
                            layout_sizes_c(tiling_));
    }
    uint64_t batch_size(const Batch& sizes) const {
        return static_cast<uint64_t>(sizes.count()) * single_m_ * single_n_;
    }

    template <bool sync>
    void batch(DstT* c, bool global, const Batch& sizes, bool sequential, uint8_t atomic, Where where) {
        if (!active_) return;
        require_ready(where);
        if (sizes.a == 0 || sizes.b == 0) fail(where, "Matmul: a batch of %u matrices by %u", sizes.a, sizes.b);
        const BatchLayout of_a = layout_a(sizes), of_b = layout_b(sizes);
        const BatchLayout of_c = layout_c(sizes, sequential || !global);
        const void *first_a = a_, *first_b = b_, *first_bias = bias_;
        a_apart_ = of_a.rows_apart, b_apart_ = of_b.rows_apart, c_apart_ = of_c.rows_apart;
        const uint32_t count = sizes.count();
        for (uint32_t i = 0; i < count; ++i) {
            // The operand with fewer matrices is used for several results in a row.
            a_ = shifted<SrcAT>(first_a, of_a.offset(static_cast<int64_t>(i) * sizes.a / count));
            b_ = shifted<SrcBT>(first_b, of_b.offset(static_cast<int64_t>(i) * sizes.b / count));
            if (first_bias != nullptr && config.isBiasBatch)
                bias_ = static_cast<const BiasT*>(first_bias) + static_cast<uint64_t>(i) * single_n_;
            if ((sequential || !global) && C_TYPE::layout != LayoutMode::NONE) c_apart_ = single_n_;
            tell_operands("IterateBatch", where);
            const WritesResult result("IterateBatch", global, sync, where);
            all_tiles(c + of_c.offset(i), global, atomic, false, where);
        }
        a_ = first_a, b_ = first_b, bias_ = first_bias;
        a_apart_ = b_apart_ = c_apart_ = 0;
        rewind();
    }

    TCubeTiling tiling_{};
    bool ready_ = false;
    bool active_ = true;
    bool asynchronous_ = false, partial_ = false;
    int64_t m_ = 0, n_ = 0, ka_ = 0, kb_ = 0, nc_ = 0;  // of the whole matrices
    int64_t single_m_ = 0, single_n_ = 0, single_k_ = 0;
    int64_t tile_ = -1;

    const void* a_ = nullptr;  // null: the scalar
    const void* b_ = nullptr;
    const void* bias_ = nullptr;
    SrcAT a_scalar_{};
    SrcBT b_scalar_{};
    bool a_local_ = false, b_local_ = false, a_turned_ = false, b_turned_ = false;
    int64_t a_apart_ = 0, b_apart_ = 0, c_apart_ = 0;  // row lengths inside a batch; 0: those of the matrices
    const uint8_t* a_scales_ = nullptr;
    const uint8_t* b_scales_ = nullptr;
    bool a_scales_turned_ = false, b_scales_turned_ = false;
    const uint8_t* sparse_index_ = nullptr;
    bool scaled_ = false;
    ResultScaling scaling_{};

    DstT* workspace_ = nullptr;
    L0cT* own_tile_ = nullptr;
    L0cT* l0c_ = nullptr;
    uint64_t l0c_size_ = 0;
    uint64_t user_tiling_ = 0, user_data_ = 0;
    int32_t batches_a_ = 1, batches_b_ = 1;
    uint64_t batches_taken_ = 0;
};

}  // namespace canopy::kernel

#endif
