// SPDX-License-Identifier: Apache-2.0
// Greedy decoding with one captured graph for each batch size, the way serving engines do it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "acl/acl.h"
#include "model.h"

#define NPU_CALL(expr)                                                                                        \
    do {                                                                                                      \
        aclError code = (expr);                                                                               \
        if (code != ACL_SUCCESS) {                                                                            \
            std::fprintf(stderr, "[ERROR] %s:%d %s: %d\n%s\n", __FILE__, __LINE__, #expr, code, aclGetRecentErrMsg()); \
            std::abort();                                                                                     \
        }                                                                                                     \
    } while (0)

template <class T>
T* DeviceAlloc(size_t n)
{
    void* p = nullptr;
    NPU_CALL(aclrtMalloc(&p, n * sizeof(T), ACL_MEM_MALLOC_HUGE_FIRST));
    return static_cast<T*>(p);
}

class Engine {
public:
    Engine(const std::vector<float>& embedding, const std::vector<float>& weight, const std::vector<int>& buckets)
    {
        NPU_CALL(aclrtCreateStream(&stream_));
        const int most = buckets.back();
        b_.embedding = DeviceAlloc<float>(embedding.size());
        b_.weight = DeviceAlloc<float>(weight.size());
        b_.token = DeviceAlloc<int32_t>(most * 8);
        b_.position = DeviceAlloc<int32_t>(most * 8);
        b_.hidden = DeviceAlloc<float>(most * kHidden);
        b_.logits = DeviceAlloc<float>(most * kVocab);
        b_.generated = DeviceAlloc<int32_t>(most * kMaxTokens);
        NPU_CALL(aclrtMemcpy(b_.embedding, embedding.size() * 4, embedding.data(), embedding.size() * 4, ACL_MEMCPY_HOST_TO_DEVICE));
        NPU_CALL(aclrtMemcpy(b_.weight, weight.size() * 4, weight.data(), weight.size() * 4, ACL_MEMCPY_HOST_TO_DEVICE));
        Reset(std::vector<int>(most, 0));
        for (int batch : buckets) {
            LaunchStep(b_, batch, stream_);  // warm up outside of the capture
            NPU_CALL(aclrtSynchronizeStream(stream_));
            NPU_CALL(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
            LaunchStep(b_, batch, stream_);
            aclmdlRICaptureStatus status;
            aclmdlRI capturing = nullptr;
            NPU_CALL(aclmdlRICaptureGetInfo(stream_, &status, &capturing));
            if (status != ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE) std::abort();
            NPU_CALL(aclmdlRICaptureEnd(stream_, &graphs_[batch]));
        }
    }
    ~Engine()
    {
        for (auto& item : graphs_) NPU_CALL(aclmdlRIDestroy(item.second));
        for (void* p : {(void*)b_.embedding, (void*)b_.weight, (void*)b_.token, (void*)b_.position, (void*)b_.hidden,
                        (void*)b_.logits, (void*)b_.generated}) {
            NPU_CALL(aclrtFree(p));
        }
        NPU_CALL(aclrtDestroyStream(stream_));
    }
    std::vector<int32_t> Generate(const std::vector<int>& prompts, int tokens)
    {
        auto bucket = graphs_.lower_bound((int)prompts.size());
        std::vector<int> padded = prompts;
        padded.resize(bucket->first, 0);
        Reset(padded);
        for (int i = 0; i < tokens; ++i) NPU_CALL(aclmdlRIExecuteAsync(bucket->second, stream_));
        NPU_CALL(aclrtSynchronizeStream(stream_));
        std::vector<int32_t> all(prompts.size() * kMaxTokens), out;
        NPU_CALL(aclrtMemcpy(all.data(), all.size() * 4, b_.generated, all.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST));
        for (size_t s = 0; s < prompts.size(); ++s) out.insert(out.end(), &all[s * kMaxTokens], &all[s * kMaxTokens + tokens]);
        return out;
    }

private:
    void Reset(const std::vector<int>& prompts)
    {
        std::vector<int32_t> first(prompts.size() * 8, 0), zero(prompts.size() * 8, 0);
        for (size_t s = 0; s < prompts.size(); ++s) first[s * 8] = prompts[s];
        NPU_CALL(aclrtMemcpy(b_.token, first.size() * 4, first.data(), first.size() * 4, ACL_MEMCPY_HOST_TO_DEVICE));
        NPU_CALL(aclrtMemcpy(b_.position, zero.size() * 4, zero.data(), zero.size() * 4, ACL_MEMCPY_HOST_TO_DEVICE));
    }

    aclrtStream stream_ = nullptr;
    StepBuffers b_{};
    std::map<int, aclmdlRI> graphs_;
};

static std::vector<int32_t> Reference(const std::vector<float>& e, const std::vector<float>& w, const std::vector<int>& prompts, int tokens)
{
    std::vector<int32_t> out;
    for (int token : prompts) {
        for (int t = 0; t < tokens; ++t) {
            int best = 0;
            float bestValue = -1e30f;
            for (int v = 0; v < kVocab; ++v) {
                float sum = 0;
                for (int i = 0; i < kHidden; ++i) sum += (e[token * kHidden + i] > 0 ? e[token * kHidden + i] : 0) * w[i * kVocab + v];
                if (sum > bestValue) bestValue = sum, best = v;
            }
            out.push_back(token = best);
        }
    }
    return out;
}

int main()
{
    std::vector<float> embedding(kVocab * kHidden), weight(kHidden * kVocab);
    uint32_t s = 1;
    for (auto* m : {&embedding, &weight}) {
        for (float& v : *m) v = (float)((s = s * 1664525u + 1013904223u) >> 24) - 128;
    }
    NPU_CALL(aclInit(nullptr));
    NPU_CALL(aclrtSetDevice(0));
    int bad = 0;
    {
        Engine engine(embedding, weight, {1, 2, 4});
        for (const std::vector<int>& prompts : {std::vector<int>{5}, {1, 2}, {7, 11, 13}, {60, 61, 62, 63}}) {
            bool same = engine.Generate(prompts, 16) == Reference(embedding, weight, prompts, 16);
            std::printf("batch %zu, 16 tokens: %s\n", prompts.size(), same ? "ok" : "DIFFERENT");
            bad += !same;
        }
    }
    NPU_CALL(aclrtResetDevice(0));
    NPU_CALL(aclFinalize());
    std::printf(bad ? "decode FAILED\n" : "decode PASSED\n");
    return bad;
}
