// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

constexpr int kVocab = 64;
constexpr int kHidden = 64;
constexpr int kMaxTokens = 32;

struct StepBuffers {
    float* embedding;    // [vocab, hidden]
    float* weight;       // [hidden, vocab]
    int32_t* token;      // [batch * 8], a block apart
    int32_t* position;   // [batch * 8]
    float* hidden;       // [batch, hidden]
    float* logits;       // [batch, vocab]
    int32_t* generated;  // [batch, max tokens]
};

// one decode step of `batch` sequences, nothing but launches
void LaunchStep(const StepBuffers& b, int batch, void* stream);
