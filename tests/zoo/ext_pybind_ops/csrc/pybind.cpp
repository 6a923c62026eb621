// SPDX-License-Identifier: Apache-2.0
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <stdexcept>
#include <string>

#include "acl/acl.h"

namespace py = pybind11;

extern "C" {
void add_custom_do(uint32_t blockDim, void* stream, uint8_t* x, uint8_t* y, uint8_t* z, uint32_t total, float alpha);
void rms_norm_do(uint32_t blockDim, void* stream, uint8_t* x, uint8_t* gamma, uint8_t* y, uint32_t rows,
                 uint32_t hidden, float eps);
}

#define NPU_CHECK(expr)                                                                                     \
    do {                                                                                                    \
        aclError ret_ = (expr);                                                                             \
        if (ret_ != ACL_ERROR_NONE) {                                                                       \
            const char* msg_ = aclGetRecentErrMsg();                                                        \
            throw std::runtime_error(std::string(#expr " failed, error code ") + std::to_string(ret_) + " " + \
                                     (msg_ ? msg_ : ""));                                                   \
        }                                                                                                   \
    } while (0)

using FloatArray = py::array_t<float, py::array::c_style | py::array::forcecast>;

// A "tensor" that lives as long as the op runs.
struct NpuBuffer {
    explicit NpuBuffer(size_t n) : size(n) { NPU_CHECK(aclrtMalloc(&ptr, n, ACL_MEM_MALLOC_HUGE_FIRST)); }
    explicit NpuBuffer(const FloatArray& a) : NpuBuffer(a.nbytes())
    {
        NPU_CHECK(aclrtMemcpy(ptr, size, a.data(), size, ACL_MEMCPY_HOST_TO_DEVICE));
    }
    ~NpuBuffer() { aclrtFree(ptr); }
    NpuBuffer(const NpuBuffer&) = delete;
    uint8_t* data() const { return static_cast<uint8_t*>(ptr); }
    void* ptr = nullptr;
    size_t size;
};

static aclrtStream g_stream = nullptr;

static void Init(int device)
{
    NPU_CHECK(aclInit(nullptr));
    NPU_CHECK(aclrtSetDevice(device));
    NPU_CHECK(aclrtCreateStream(&g_stream));
}

static void Finalize()
{
    aclrtDestroyStream(g_stream);
    g_stream = nullptr;
    aclrtResetDevice(0);
    aclFinalize();
}

static FloatArray ToHost(const NpuBuffer& buffer, const FloatArray& like)
{
    FloatArray out(std::vector<py::ssize_t>(like.shape(), like.shape() + like.ndim()));
    NPU_CHECK(aclrtSynchronizeStream(g_stream));
    NPU_CHECK(aclrtMemcpy(out.mutable_data(), out.nbytes(), buffer.ptr, buffer.size, ACL_MEMCPY_DEVICE_TO_HOST));
    return out;
}

static FloatArray Add(const FloatArray& x, const FloatArray& y, float alpha)
{
    if (x.size() != y.size()) throw std::invalid_argument("add: x and y must have the same number of elements");
    NpuBuffer xDev(x), yDev(y), zDev(x.nbytes());
    add_custom_do(8, g_stream, xDev.data(), yDev.data(), zDev.data(), static_cast<uint32_t>(x.size()), alpha);
    return ToHost(zDev, x);
}

static FloatArray RmsNorm(const FloatArray& x, const FloatArray& gamma, float eps)
{
    if (x.ndim() != 2 || gamma.ndim() != 1 || gamma.shape(0) != x.shape(1)) {
        throw std::invalid_argument("rms_norm: expected x[rows, hidden] and gamma[hidden]");
    }
    NpuBuffer xDev(x), gammaDev(gamma), yDev(x.nbytes());
    rms_norm_do(4, g_stream, xDev.data(), gammaDev.data(), yDev.data(), static_cast<uint32_t>(x.shape(0)),
                static_cast<uint32_t>(x.shape(1)), eps);
    return ToHost(yDev, x);
}

PYBIND11_MODULE(_C, m)
{
    m.def("init", &Init, py::arg("device") = 0);
    m.def("finalize", &Finalize);
    m.def("add", &Add, py::arg("x"), py::arg("y"), py::arg("alpha") = 1.0f);
    m.def("rms_norm", &RmsNorm, py::arg("x"), py::arg("gamma"), py::arg("eps") = 1e-6f);
}
