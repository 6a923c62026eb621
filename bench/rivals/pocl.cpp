// SPDX-License-Identifier: Apache-2.0
#include "rivals/pocl.h"

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <fmt/core.h>

#include <stdexcept>
#include <vector>

namespace bench {
namespace {

const char* const source =
    "kernel void empty_five(global float* a, global float* b, global float* out, uint count, float factor) {}\n"
    "kernel void add(global const float* x, global const float* y, global float* z) {\n"
    "    size_t i = get_global_id(0); z[i] = x[i] + y[i];\n"
    "}";

void must(cl_int code, const char* call) {
    if (code != CL_SUCCESS) throw std::runtime_error(fmt::format("{} gave {}", call, code));
}

std::string text_of(cl_platform_id platform, cl_platform_info what) {
    std::size_t size = 0;
    clGetPlatformInfo(platform, what, 0, nullptr, &size);
    std::string text(size, '\0');
    clGetPlatformInfo(platform, what, size, text.data(), nullptr);
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
}

cl_platform_id find_platform() {
    cl_uint count = 0;
    if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return nullptr;
    std::vector<cl_platform_id> platforms(count);
    clGetPlatformIDs(count, platforms.data(), nullptr);
    for (const cl_platform_id platform : platforms)
        if (text_of(platform, CL_PLATFORM_NAME) == "Portable Computing Language") return platform;
    return nullptr;
}

class OpenedPocl final : public Pocl {
public:
    explicit OpenedPocl(cl_platform_id platform) {
        must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device_, nullptr), "clGetDeviceIDs");
        cl_int code = 0;
        context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
        must(code, "clCreateContext");
        for (cl_command_queue& queue : queues_) {
            queue = clCreateCommandQueueWithProperties(context_, device_, nullptr, &code);
            must(code, "clCreateCommandQueueWithProperties");
        }
        program_ = clCreateProgramWithSource(context_, 1, const_cast<const char**>(&source), nullptr, &code);
        must(code, "clCreateProgramWithSource");
        must(clBuildProgram(program_, 1, &device_, "", nullptr, nullptr), "clBuildProgram");
        kernel_ = clCreateKernel(program_, "empty_five", &code);
        must(code, "clCreateKernel");
        buffer_ = clCreateBuffer(context_, CL_MEM_READ_WRITE, 4096, nullptr, &code);
        must(code, "clCreateBuffer");
        set_arguments();
    }

    ~OpenedPocl() override {
        for (const cl_mem array : arrays_)
            if (array) clReleaseMemObject(array);
        if (add_) clReleaseKernel(add_);
        clReleaseMemObject(buffer_);
        clReleaseKernel(kernel_);
        clReleaseProgram(program_);
        for (const cl_command_queue queue : queues_) clReleaseCommandQueue(queue);
        clReleaseContext(context_);
    }

    void enqueue_then_finish(std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i) enqueue(queues_[0], nullptr, nullptr);
        must(clFinish(queues_[0]), "clFinish");
    }

    void enqueue_and_finish_each(std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i) {
            enqueue(queues_[0], nullptr, nullptr);
            must(clFinish(queues_[0]), "clFinish");
        }
    }

    void enqueue_in_turn(std::size_t count) override {
        std::vector<cl_event> events(count);
        for (std::size_t i = 0; i < count; ++i) enqueue(queues_[i % 2], i ? &events[i - 1] : nullptr, &events[i]);
        for (const cl_command_queue queue : queues_) must(clFlush(queue), "clFlush");
        for (const cl_command_queue queue : queues_) must(clFinish(queue), "clFinish");
        for (const cl_event event : events) clReleaseEvent(event);
    }

    void share(float* x, float* y, float* z, std::size_t count) override {
        cl_int code = 0;
        add_ = clCreateKernel(program_, "add", &code);
        must(code, "clCreateKernel");
        float* const addresses[] = {x, y, z};
        for (cl_uint i = 0; i < 3; ++i) {
            arrays_[i] = clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, count * sizeof(float),
                                        addresses[i], &code);
            must(code, "clCreateBuffer");
            must(clSetKernelArg(add_, i, sizeof(cl_mem), &arrays_[i]), "clSetKernelArg");
        }
        count_ = count;
    }

    void add_shared() override {
        const std::size_t group = 4096;
        must(clEnqueueNDRangeKernel(queues_[0], add_, 1, nullptr, &count_, &group, 0, nullptr, nullptr),
             "clEnqueueNDRangeKernel");
        must(clFinish(queues_[0]), "clFinish");
    }

private:
    void set_arguments() {
        const cl_uint count = 1024;
        const cl_float factor = 1;
        for (cl_uint i = 0; i < 3; ++i) must(clSetKernelArg(kernel_, i, sizeof(buffer_), &buffer_), "clSetKernelArg");
        must(clSetKernelArg(kernel_, 3, sizeof(count), &count), "clSetKernelArg");
        must(clSetKernelArg(kernel_, 4, sizeof(factor), &factor), "clSetKernelArg");
    }

    void enqueue(cl_command_queue queue, const cl_event* after, cl_event* event) {
        const std::size_t one = 1;
        must(clEnqueueNDRangeKernel(queue, kernel_, 1, nullptr, &one, &one, after ? 1 : 0, after, event),
             "clEnqueueNDRangeKernel");
    }

    cl_device_id device_ = nullptr;
    cl_context context_ = nullptr;
    cl_command_queue queues_[2] = {};
    cl_program program_ = nullptr;
    cl_kernel kernel_ = nullptr;
    cl_mem buffer_ = nullptr;
    cl_kernel add_ = nullptr;
    cl_mem arrays_[3] = {};
    std::size_t count_ = 0;
};

}  // namespace

std::unique_ptr<Pocl> Pocl::open() {
    const cl_platform_id platform = find_platform();
    return platform ? std::make_unique<OpenedPocl>(platform) : nullptr;
}

std::string Pocl::version() {
    const cl_platform_id platform = find_platform();
    if (!platform) return "PoCL not installed";
    // "OpenCL 3.0 PoCL 3.1 ...": build details follow after two blanks.
    const std::string text = text_of(platform, CL_PLATFORM_VERSION);
    const std::size_t begin = text.find("PoCL"), end = text.find("  ");
    return begin < end ? text.substr(begin, end == std::string::npos ? end : end - begin) : text;
}

}  // namespace bench
