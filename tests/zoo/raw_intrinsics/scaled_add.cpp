// SPDX-License-Identifier: Apache-2.0
// No queues and no tensors: addresses, flags and instructions.
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "kernel_operator.h"

constexpr int32_t TILE = 2048;                  // floats
constexpr int32_t BYTES = TILE * sizeof(float);
constexpr uint8_t REPEATS = TILE / 64;
constexpr uint16_t BURSTS = BYTES / 32;

// z = relu(max(a * x + y, floor)), two halves of the unified buffer in turn
extern "C" __global__ __aicore__ void scaled_add(__gm__ float* x, __gm__ float* y, __gm__ float* z, float a, float floor,
                                                 int32_t tiles)
{
#if defined(__DAV_C220_VEC__)
    set_atomic_none();
    set_mask_norm();
    set_vector_mask((uint64_t)-1, (uint64_t)-1);
    __ubuf__ float* xUb[2] = {(__ubuf__ float*)get_imm(0), (__ubuf__ float*)get_imm(3 * BYTES)};
    __ubuf__ float* yUb[2] = {(__ubuf__ float*)get_imm(BYTES), (__ubuf__ float*)get_imm(4 * BYTES)};
    __ubuf__ float* zUb[2] = {(__ubuf__ float*)get_imm(2 * BYTES), (__ubuf__ float*)get_imm(5 * BYTES)};
    __ubuf__ float* floorUb = (__ubuf__ float*)get_imm(6 * BYTES);
    vector_dup(floorUb, floor, 1, 1, 1, 8, 8);
    pipe_barrier(PIPE_V);

    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);
    int32_t turn = 0;
    for (int32_t t = get_block_idx(); t < tiles; t += get_block_num(), turn ^= 1) {
        event_t id = turn == 0 ? EVENT_ID0 : EVENT_ID1;
        wait_flag(PIPE_V, PIPE_MTE2, id);
        copy_gm_to_ubuf((__ubuf__ void*)xUb[turn], (__gm__ void*)(x + t * TILE), 0, 1, BURSTS, 0, 0);
        copy_gm_to_ubuf((__ubuf__ void*)yUb[turn], (__gm__ void*)(y + t * TILE), 0, 1, BURSTS, 0, 0);
        set_flag(PIPE_MTE2, PIPE_V, id);
        wait_flag(PIPE_MTE2, PIPE_V, id);
        wait_flag(PIPE_MTE3, PIPE_V, id);
        vmuls(zUb[turn], xUb[turn], a, REPEATS, 1, 1, 8, 8);
        pipe_barrier(PIPE_V);
        vadd(zUb[turn], zUb[turn], yUb[turn], REPEATS, 1, 1, 1, 8, 8, 8);
        pipe_barrier(PIPE_V);
        vmax(zUb[turn], zUb[turn], floorUb, REPEATS, 1, 1, 1, 8, 8, 0);
        pipe_barrier(PIPE_V);
        vrelu(zUb[turn], zUb[turn], REPEATS, 1, 1, 8, 8);
        set_flag(PIPE_V, PIPE_MTE2, id);
        set_flag(PIPE_V, PIPE_MTE3, id);
        wait_flag(PIPE_V, PIPE_MTE3, id);
        copy_ubuf_to_gm((__gm__ void*)(z + t * TILE), (__ubuf__ void*)zUb[turn], 0, 1, BURSTS, 0, 0);
        set_flag(PIPE_MTE3, PIPE_V, id);
    }
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);
    pipe_barrier(PIPE_ALL);
#endif
}

int main()
{
    const int32_t tiles = 21, n = tiles * TILE;
    std::vector<float> x(n), y(n), z(n);
    for (int32_t i = 0; i < n; i++) {
        x[i] = (float)(i % 301) - 150;
        y[i] = (float)(i % 17);
    }
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtStream stream;
    aclrtCreateStream(&stream);
    float *xd, *yd, *zd;
    aclrtMalloc((void**)&xd, n * 4, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void**)&yd, n * 4, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void**)&zd, n * 4, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(xd, n * 4, x.data(), n * 4, ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(yd, n * 4, y.data(), n * 4, ACL_MEMCPY_HOST_TO_DEVICE);
    scaled_add<<<5, nullptr, stream>>>(xd, yd, zd, 0.5f, 2.5f, tiles);
    int ret = aclrtSynchronizeStream(stream);
    aclrtMemcpy(z.data(), n * 4, zd, n * 4, ACL_MEMCPY_DEVICE_TO_HOST);
    int wrong = 0;
    for (int32_t i = 0; i < n; i++) {
        float v = 0.5f * x[i] + y[i];
        v = v > 2.5f ? v : 2.5f;
        wrong += z[i] != v;
    }
    aclrtFree(xd);
    aclrtFree(yd);
    aclrtFree(zd);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    printf("%s: %d of %d wrong, ret %d\n", wrong || ret ? "FAIL" : "SUCCESS", wrong, n, ret);
    return wrong || ret;
}
