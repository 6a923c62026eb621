// SPDX-License-Identifier: Apache-2.0
// D = relu(A * B + bias): the cube core makes tiles, the two vector cores of its group finish them, two tiles in flight.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "experiment/runtime/runtime/rt_ffts.h"
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t TILE_M = 32;
constexpr uint32_t N = 64;
constexpr uint32_t K = 64;
constexpr uint32_t SLOTS = 2;
constexpr uint16_t FLAG_READY = 4;   // + slot: cube -> vector
constexpr uint16_t FLAG_FREE = 6;    // + slot: vector -> cube
constexpr uint32_t C0 = 16;

__aicore__ inline void Nd2Nz(const LocalTensor<half>& dst, const GlobalTensor<half>& src, uint16_t rows, uint16_t cols)
{
    DataCopy(dst, src, Nd2NzParams{1, rows, cols, 0, cols, rows, 1, 0});
}

class CubeSide {
public:
    __aicore__ inline CubeSide(GM_ADDR a, GM_ADDR b, GM_ADDR ws)
    {
        aGm.SetGlobalBuffer((__gm__ half*)a);
        bGm.SetGlobalBuffer((__gm__ half*)b);
        wsGm.SetGlobalBuffer((__gm__ float*)ws + GetBlockIdx() * SLOTS * TILE_M * N);
        pipe.InitBuffer(l1a, 1, TILE_M * K * sizeof(half));
        pipe.InitBuffer(l1b, 1, K * N * sizeof(half));
        pipe.InitBuffer(l0a, 1, TILE_M * K * sizeof(half));
        pipe.InitBuffer(l0b, 1, K * N * sizeof(half));
        pipe.InitBuffer(l0c, 1, TILE_M * N * sizeof(float));
    }
    __aicore__ inline void Run(uint32_t tiles)
    {
        LoadB();
        uint32_t turn = 0;
        for (uint32_t tile = GetBlockIdx(); tile < tiles; tile += GetBlockNum(), ++turn) {
            uint32_t slot = turn % SLOTS;
            if (turn >= SLOTS) {
                CrossCoreWaitFlag(FLAG_FREE + slot);
            }
            OneTile(tile, slot);
            CrossCoreSetFlag<0x2, PIPE_FIX>(FLAG_READY + slot);
        }
        // the vector cores answer every tile, the last answers are taken here
        for (uint32_t i = 0; i < (turn < SLOTS ? turn : SLOTS); ++i) {
            CrossCoreWaitFlag(FLAG_FREE + (turn + SLOTS - 1 - i) % SLOTS);
        }
        l0b.FreeTensor(b2);
    }

private:
    __aicore__ inline void LoadB()
    {
        auto b1 = l1b.AllocTensor<half>();
        Nd2Nz(b1, bGm, K, N);
        l1b.EnQue(b1);
        b1 = l1b.DeQue<half>();
        b2 = l0b.AllocTensor<half>();
        LoadData2DParams p;
        p.repeatTimes = N / C0;
        p.srcStride = K / C0;
        p.ifTranspose = true;
        for (uint32_t k = 0; k < K / C0; ++k) {
            LoadData(b2[k * C0 * N], b1[k * C0 * C0], p);
        }
        l1b.FreeTensor(b1);
        l0b.EnQue(b2);
        b2 = l0b.DeQue<half>();
    }
    __aicore__ inline void OneTile(uint32_t tile, uint32_t slot)
    {
        auto a1 = l1a.AllocTensor<half>();
        Nd2Nz(a1, aGm[tile * TILE_M * K], TILE_M, K);
        l1a.EnQue(a1);
        a1 = l1a.DeQue<half>();
        auto a2 = l0a.AllocTensor<half>();
        LoadData2DParams p;
        p.repeatTimes = K / C0;
        p.srcStride = TILE_M / C0;
        p.ifTranspose = false;
        for (uint32_t m = 0; m < TILE_M / C0; ++m) {
            LoadData(a2[m * C0 * K], a1[m * C0 * C0], p);
        }
        l1a.FreeTensor(a1);
        l0a.EnQue(a2);
        a2 = l0a.DeQue<half>();
        auto c = l0c.AllocTensor<float>();
        MmadParams mm;
        mm.m = TILE_M;
        mm.n = N;
        mm.k = K;
        mm.cmatrixInitVal = true;
        Mmad(c, a2, b2, mm);
        l0a.FreeTensor(a2);
        l0c.EnQue(c);
        c = l0c.DeQue<float>();
        FixpipeParamsV220 fix;
        fix.nSize = N;
        fix.mSize = TILE_M;
        fix.srcStride = TILE_M;
        fix.dstStride = N;
        Fixpipe<float, float, CFG_ROW_MAJOR>(wsGm[slot * TILE_M * N], c, fix);
        l0c.FreeTensor(c);
    }

    TPipe pipe;
    TQue<TPosition::A1, 1> l1a;
    TQue<TPosition::B1, 1> l1b;
    TQue<TPosition::A2, 1> l0a;
    TQue<TPosition::B2, 1> l0b;
    TQue<TPosition::CO1, 1> l0c;
    LocalTensor<half> b2;
    GlobalTensor<half> aGm, bGm;
    GlobalTensor<float> wsGm;
};

class VectorSide {
public:
    static constexpr uint32_t ROWS = TILE_M / 2;
    __aicore__ inline VectorSide(GM_ADDR bias, GM_ADDR d, GM_ADDR ws)
    {
        uint32_t group = GetBlockIdx() / GetSubBlockNum();
        biasGm.SetGlobalBuffer((__gm__ float*)bias);
        dGm.SetGlobalBuffer((__gm__ float*)d);
        wsGm.SetGlobalBuffer((__gm__ float*)ws + group * SLOTS * TILE_M * N);
        pipe.InitBuffer(in, 1, ROWS * N * sizeof(float));
        pipe.InitBuffer(out, 1, ROWS * N * sizeof(float));
        pipe.InitBuffer(biasBuf, N * sizeof(float));
    }
    __aicore__ inline void Run(uint32_t tiles)
    {
        LocalTensor<float> bias = biasBuf.Get<float>();
        DataCopy(bias, biasGm, N);
        PipeBarrier<PIPE_ALL>();
        uint32_t turn = 0;
        for (uint32_t tile = GetBlockIdx() / GetSubBlockNum(); tile < tiles; tile += GetBlockNum(), ++turn) {
            uint32_t slot = turn % SLOTS, half0 = GetSubBlockIdx() * ROWS * N;
            CrossCoreWaitFlag(FLAG_READY + slot);
            auto x = in.AllocTensor<float>();
            DataCopy(x, wsGm[slot * TILE_M * N + half0], ROWS * N);
            in.EnQue(x);
            x = in.DeQue<float>();
            CrossCoreSetFlag<0x2, PIPE_MTE2>(FLAG_FREE + slot);
            auto y = out.AllocTensor<float>();
            // one repeat is one row; the bias stays where it is
            Add(y, x, bias, 64, ROWS, BinaryRepeatParams(1, 1, 1, 8, 8, 0));
            PipeBarrier<PIPE_V>();
            Relu(y, y, ROWS * N);
            in.FreeTensor(x);
            out.EnQue(y);
            y = out.DeQue<float>();
            DataCopy(dGm[tile * TILE_M * N + half0], y, ROWS * N);
            out.FreeTensor(y);
        }
    }

private:
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    TBuf<TPosition::VECCALC> biasBuf;
    GlobalTensor<float> biasGm, dGm, wsGm;
};

extern "C" __global__ __aicore__ void gemm_bias_relu(uint64_t fftsAddr, GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR d,
                                                     GM_ADDR ws, uint32_t tiles)
{
    SetSyncBaseAddr(fftsAddr);
#ifdef __DAV_C220_CUBE__
    CubeSide cube(a, b, ws);
    cube.Run(tiles);
#elif defined(__DAV_C220_VEC__)
    VectorSide vec(bias, d, ws);
    vec.Run(tiles);
#endif
}

#define ACL(call)                                                                    \
    do {                                                                             \
        int ret_ = (call);                                                           \
        if (ret_ != 0) { printf("line %d: %s = %d\n", __LINE__, #call, ret_); return 1; } \
    } while (0)

int main()
{
    const uint32_t tiles = 11, groups = 3, M = tiles * TILE_M;
    std::vector<aclFloat16> a(M * K), b(K * N);
    std::vector<float> bias(N), d(M * N);
    for (size_t i = 0; i < a.size(); i++) a[i] = aclFloatToFloat16((float)(i * 7 % 13) - 6);
    for (size_t i = 0; i < b.size(); i++) b[i] = aclFloatToFloat16((float)(i * 5 % 9) - 4);
    for (size_t i = 0; i < N; i++) bias[i] = (float)i - 20;
    ACL(aclInit(nullptr));
    ACL(aclrtSetDevice(0));
    aclrtStream stream;
    ACL(aclrtCreateStream(&stream));
    uint64_t fftsAddr = 0;
    uint32_t fftsLen = 0;
    ACL(rtGetC2cCtrlAddr(&fftsAddr, &fftsLen));
    uint8_t *aD, *bD, *biasD, *dD, *wsD;
    ACL(aclrtMalloc((void**)&aD, a.size() * 2, ACL_MEM_MALLOC_HUGE_FIRST));
    ACL(aclrtMalloc((void**)&bD, b.size() * 2, ACL_MEM_MALLOC_HUGE_FIRST));
    ACL(aclrtMalloc((void**)&biasD, N * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    ACL(aclrtMalloc((void**)&dD, d.size() * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    ACL(aclrtMalloc((void**)&wsD, groups * SLOTS * TILE_M * N * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    ACL(aclrtMemcpy(aD, a.size() * 2, a.data(), a.size() * 2, ACL_MEMCPY_HOST_TO_DEVICE));
    ACL(aclrtMemcpy(bD, b.size() * 2, b.data(), b.size() * 2, ACL_MEMCPY_HOST_TO_DEVICE));
    ACL(aclrtMemcpy(biasD, N * 4, bias.data(), N * 4, ACL_MEMCPY_HOST_TO_DEVICE));
    gemm_bias_relu<<<groups, nullptr, stream>>>(fftsAddr, aD, bD, biasD, dD, wsD, tiles);
    ACL(aclrtSynchronizeStream(stream));
    ACL(aclrtMemcpy(d.data(), d.size() * 4, dD, d.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST));
    size_t wrong = 0;
    for (uint32_t m = 0; m < M; m++) {
        for (uint32_t n = 0; n < N; n++) {
            float sum = bias[n];
            for (uint32_t k = 0; k < K; k++) sum += aclFloat16ToFloat(a[m * K + k]) * aclFloat16ToFloat(b[k * N + n]);
            wrong += d[m * N + n] != std::fmax(sum, 0.0f);
        }
    }
    for (uint8_t* p : {aD, bD, biasD, dD, wsD}) ACL(aclrtFree(p));
    ACL(aclrtDestroyStream(stream));
    ACL(aclrtResetDevice(0));
    ACL(aclFinalize());
    printf("gemm_bias_relu %u x %u x %u in %u groups: %s (%zu wrong)\n", M, N, K, groups, wrong ? "failed" : "success", wrong);
    return wrong != 0;
}
