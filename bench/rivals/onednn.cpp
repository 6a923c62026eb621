// SPDX-License-Identifier: Apache-2.0
#include "rivals/onednn.h"

#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

namespace bench {
namespace {

using dnnl::memory;
using Normalisation = dnnl::layer_normalization_forward;

constexpr auto inference = dnnl::prop_kind::forward_inference;
const auto scale_and_shift = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;

class Rows final : public OneDnn {
public:
    void prepare_softmax(float* x, float* y, std::size_t rows, std::size_t columns) override {
        const auto matrix = shape(rows, columns);
#if DNNL_VERSION_MAJOR >= 3
        const dnnl::softmax_forward::primitive_desc plan(engine_, inference, dnnl::algorithm::softmax_accurate, matrix,
                                                         matrix, 1);
#else
        const dnnl::softmax_forward::primitive_desc plan({inference, matrix, 1}, engine_);
#endif
        take(dnnl::softmax_forward(plan), matrix, x, y);
    }
    void prepare_layer_norm(float* x, float* y, float* gamma, float* beta, std::size_t rows,
                            std::size_t columns) override {
        const auto matrix = shape(rows, columns);
#if DNNL_VERSION_MAJOR >= 3
        const Normalisation::primitive_desc plan(engine_, inference, matrix, matrix, 1e-5f, scale_and_shift);
#else
        const Normalisation::primitive_desc plan({inference, matrix, 1e-5f, scale_and_shift}, engine_);
#endif
        take(Normalisation(plan), matrix, x, y);
        const memory::desc vector({static_cast<memory::dim>(columns)}, memory::data_type::f32, memory::format_tag::a);
        arguments_.emplace(DNNL_ARG_SCALE, memory(vector, engine_, gamma));
        arguments_.emplace(DNNL_ARG_SHIFT, memory(vector, engine_, beta));
    }
    void prepare_gelu(float* x, float* y, std::size_t rows, std::size_t columns) override {
        const auto matrix = shape(rows, columns);
#if DNNL_VERSION_MAJOR >= 3
        const dnnl::eltwise_forward::primitive_desc plan(engine_, inference, dnnl::algorithm::eltwise_gelu_tanh, matrix,
                                                         matrix, 0.0f, 0.0f);
#else
        const dnnl::eltwise_forward::primitive_desc plan(
            {inference, dnnl::algorithm::eltwise_gelu_tanh, matrix, 0.0f, 0.0f}, engine_);
#endif
        take(dnnl::eltwise_forward(plan), matrix, x, y);
    }
    void run() override {
        primitive_.execute(stream_, arguments_);
        stream_.wait();
    }

private:
    static memory::desc shape(std::size_t rows, std::size_t columns) {
        return {{static_cast<memory::dim>(rows), static_cast<memory::dim>(columns)},
                memory::data_type::f32,
                memory::format_tag::ab};
    }
    void take(const dnnl::primitive& primitive, const memory::desc& matrix, float* x, float* y) {
        primitive_ = primitive;
        arguments_.clear();
        arguments_.emplace(DNNL_ARG_SRC, memory(matrix, engine_, x));
        arguments_.emplace(DNNL_ARG_DST, memory(matrix, engine_, y));
    }

    dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream_{engine_};
    dnnl::primitive primitive_;
    std::unordered_map<int, memory> arguments_;
};

}  // namespace

std::unique_ptr<OneDnn> OneDnn::open() { return std::make_unique<Rows>(); }

std::string OneDnn::version() {
    const dnnl_version_t* version = dnnl_version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
}

}  // namespace bench
