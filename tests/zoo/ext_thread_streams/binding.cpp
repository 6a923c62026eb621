// SPDX-License-Identifier: Apache-2.0
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <mutex>
#include <set>

#include "acl/acl.h"
#include "kernels.h"

namespace py = pybind11;

static std::mutex g_mutex;
static std::set<aclrtStream> g_streams;

static void Check(aclError e, const char* what)
{
    if (e == ACL_SUCCESS) return;
    throw std::runtime_error(std::string(what) + " -> " + std::to_string(e));
}
#define CHECK_ACL(x) Check((x), #x)

// every Python thread that launches something gets a stream, and keeps it
class ThreadStream {
public:
    aclrtStream Get(int device)
    {
        if (stream_ == nullptr) {
            CHECK_ACL(aclrtSetDevice(device));
            CHECK_ACL(aclrtCreateStreamWithConfig(&stream_, 0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
            std::lock_guard<std::mutex> guard(g_mutex);
            g_streams.insert(stream_);
        }
        return stream_;
    }
    ~ThreadStream()
    {
        if (stream_ == nullptr) return;
        {
            std::lock_guard<std::mutex> guard(g_mutex);
            if (g_streams.erase(stream_) == 0) return;  // shutdown() was first
        }
        (void)aclrtDestroyStream(stream_);
    }

private:
    aclrtStream stream_ = nullptr;
};
static thread_local ThreadStream t_stream;

class DeviceArray {
public:
    DeviceArray(py::array_t<float, py::array::c_style | py::array::forcecast> a) : count_(a.size())
    {
        CHECK_ACL(aclrtSetDevice(0));
        CHECK_ACL(aclrtMalloc(reinterpret_cast<void**>(&data_), count_ * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK_ACL(aclrtMemcpy(data_, count_ * sizeof(float), a.data(), count_ * sizeof(float), ACL_MEMCPY_HOST_TO_DEVICE));
    }
    ~DeviceArray() { (void)aclrtFree(data_); }
    void ScaleBias(float scale, float bias)
    {
        py::gil_scoped_release release;
        scale_bias(t_stream.Get(0), data_, {static_cast<uint32_t>(count_), scale, bias});
    }
    py::array_t<float> Numpy()
    {
        py::array_t<float> out(count_);
        float* to = out.mutable_data();
        py::gil_scoped_release release;
        CHECK_ACL(aclrtSynchronizeStream(t_stream.Get(0)));
        CHECK_ACL(aclrtMemcpy(to, count_ * sizeof(float), data_, count_ * sizeof(float), ACL_MEMCPY_DEVICE_TO_HOST));
        return out;
    }

private:
    float* data_ = nullptr;
    size_t count_;
};

PYBIND11_MODULE(_streams, m)
{
    CHECK_ACL(aclInit(nullptr));
    py::class_<DeviceArray>(m, "DeviceArray")
        .def(py::init<py::array_t<float, py::array::c_style | py::array::forcecast>>())
        .def("scale_bias", &DeviceArray::ScaleBias)
        .def("numpy", &DeviceArray::Numpy);
    m.def("stream_ptr", [] { return reinterpret_cast<uintptr_t>(t_stream.Get(0)); });
    m.def("stream_count", [] { std::lock_guard<std::mutex> g(g_mutex); return g_streams.size(); });
    m.def("shutdown", [] {
        std::set<aclrtStream> rest;
        {
            std::lock_guard<std::mutex> g(g_mutex);
            rest.swap(g_streams);
        }
        CHECK_ACL(aclrtSetDevice(0));
        for (aclrtStream s : rest) CHECK_ACL(aclrtDestroyStream(s));
        CHECK_ACL(aclrtResetDeviceForce(0));
        CHECK_ACL(aclFinalize());
    });
}
