// SPDX-License-Identifier: Apache-2.0
// The body of the generated host calls of an operator project: the first step collects the arguments, calls the tiling
// function and finds the kernel; the second step launches it.
//
// Threads: a Call belongs to one thread; executors as all executors.
#ifndef CANOPY_OPERATOR_LAUNCH_H
#define CANOPY_OPERATOR_LAUNCH_H

#include <acl/acl_rt.h>
#include <canopy/operator_call.h>
#include <register/op_def_registry.h>

#include <cstring>
#include <new>

namespace canopy::operators {

// A kernel compiled for one architecture and one combination of types.
struct Instance {
    int64_t architecture;
    const int32_t* types;  // of the inputs, then of the outputs
    void (*kernel)();      // the host's name of the kernel; null if the library was linked without it
};

class Call {
public:
    explicit Call(const char* type) {
        call_.name = call_.type = type;
        for (const auto& definition : ops::added_operators())
            if (definition->type() == type && definition_ == nullptr) definition_ = definition.get();
    }

    void input(const aclTensor* tensor, bool required = true) { add_one(call_.inputs, tensor, required); }
    void output(const aclTensor* tensor) { add_one(call_.outputs, tensor, true); }
    void input(const aclTensorList* list) { add_list(call_.inputs, list); }
    void output(const aclTensorList* list) { add_list(call_.outputs, list); }

    void attribute(bool value) { values_.emplace_back(value); }
    void attribute(int64_t value) { values_.emplace_back(value); }
    void attribute(double value) { values_.emplace_back(static_cast<float>(value)); }
    // A null attribute has the value of its definition.
    void attribute(const char* text) {
        const ops::OpAttrDef* attribute = next_attribute();
        values_.emplace_back(text != nullptr ? std::string(text) : attribute != nullptr ? attribute->text() : "");
    }
    void attribute(const aclIntArray* array) {
        const ops::OpAttrDef* attribute = next_attribute();
        std::vector<int64_t> list;
        if (array != nullptr)
            list = copied(canopyOperatorInts, array);
        else if (attribute != nullptr)
            list = attribute->numbers();
        values_.emplace_back(std::move(list));
    }
    void attribute(const aclFloatArray* array) {
        const ops::OpAttrDef* attribute = next_attribute();
        std::vector<float> list;
        if (array != nullptr)
            list = copied(canopyOperatorFloats, array);
        else if (attribute != nullptr)
            list = attribute->reals();
        values_.emplace_back(std::move(list));
    }
    void attribute(const aclBoolArray* array) {
        const ops::OpAttrDef* attribute = next_attribute();
        gert::RuntimeAttrs::Bools list;
        if (array != nullptr)
            list = copied(canopyOperatorBools, array);
        else if (attribute != nullptr)
            list.assign(attribute->numbers().begin(), attribute->numbers().end());
        values_.emplace_back(std::move(list));
    }

    template <std::size_t count>
    aclnnStatus prepare(const Instance (&instances)[count], uint64_t* workspace_size, aclOpExecutor** executor) {
        if (status_ != ACLNN_SUCCESS) return status_;
        if (workspace_size == nullptr || executor == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
        if (definition_ == nullptr) return ACLNN_ERR_INNER;
        call_.attributes = std::make_unique<gert::RuntimeAttrs>(std::move(values_));
        auto work = std::make_unique<Work>();
        *workspace_size = 0;
        if (!is_empty()) {
            if (const aclnnStatus status = find_kernel(instances, count, *work); status != ACLNN_SUCCESS) return status;
            if (const aclnnStatus status = tile(*work); status != ACLNN_SUCCESS) return status;
            *workspace_size = work->workspace_size;
        }
        const CanopyOperatorWork description{&Work::run, &Work::destroy, work.get()};
        const aclnnStatus status = canopyOperatorExecutor(&description, executor);
        if (status == ACLNN_SUCCESS) static_cast<void>(work.release());
        return status;
    }

private:
    // The launch: an argument block with the addresses, the key, and behind them what addresses point to.
    struct Work {
        void (*kernel)() = nullptr;  // null: nothing to do
        uint32_t blocks = 1;
        uint64_t workspace_size = 0;
        std::size_t workspace_slot = 0;
        std::vector<uint64_t> block;
        std::vector<aclrtPlaceHolderInfo> pointers;

        static aclnnStatus run(void* state, void* workspace, uint64_t size, aclrtStream stream) {
            auto& work = *static_cast<Work*>(state);
            if (work.kernel == nullptr) return ACLNN_SUCCESS;
            if (work.workspace_size != 0 && workspace == nullptr) return ACLNN_ERR_PARAM_NULLPTR;
            if (size < work.workspace_size) return ACLNN_ERR_PARAM_INVALID;
            work.block[work.workspace_slot] = reinterpret_cast<uint64_t>(workspace);
            aclrtFuncHandle function = nullptr;
            if (aclrtGetFuncBySymbol(reinterpret_cast<const void*>(work.kernel), &function) != ACL_SUCCESS)
                return ACLNN_ERR_RUNTIME_ERROR;
            const aclError code = aclrtLaunchKernelWithHostArgs(function, work.blocks, stream, nullptr,
                                                                work.block.data(), work.block.size() * sizeof(uint64_t),
                                                                work.pointers.data(), work.pointers.size());
            return code == ACL_SUCCESS ? ACLNN_SUCCESS : ACLNN_ERR_RUNTIME_ERROR;
        }
        static void destroy(void* state) { delete static_cast<Work*>(state); }

        // Appends bytes and makes the slot point to them.
        void point(std::size_t slot, const void* bytes, std::size_t size) {
            constexpr std::size_t words = 4;  // a block of global memory has 32 bytes
            block.resize((block.size() + words - 1) / words * words);
            const std::size_t at = block.size();
            block.resize(at + (size + 31) / 32 * words + words);
            std::memcpy(block.data() + at, bytes, size);
            pointers.push_back(
                {static_cast<uint32_t>(slot * sizeof(uint64_t)), static_cast<uint32_t>(at * sizeof(uint64_t))});
        }
    };

    template <class Array, class Value>
    static std::vector<Value> copied(const Value* (*read)(const Array*, uint64_t*), const Array* array) {
        uint64_t count = 0;
        const Value* values = read(array, &count);
        return std::vector<Value>(values, values + count);
    }

    const ops::OpAttrDef* next_attribute() const {
        if (definition_ == nullptr || values_.size() >= definition_->attributes().size()) return nullptr;
        return &definition_->attributes()[values_.size()];
    }

    // Kernels get an address and no strides, so a tensor must be dense.
    bool add_tensor(const aclTensor* tensor, std::vector<gert::Tensor>& instances) {
        CanopyTensorView view;
        canopyOperatorTensor(tensor, &view);
        gert::Shape shape;
        int64_t stride = 1;
        for (uint64_t axis = view.rank; axis-- > 0;) {
            if (view.shape[axis] > 1 && view.strides[axis] != stride) return false;
            stride *= view.shape[axis];
        }
        for (uint64_t axis = 0; axis < view.rank; ++axis) shape.AppendDim(view.shape[axis]);
        const auto format = static_cast<ge::Format>(view.format);
        const auto type = static_cast<ge::DataType>(view.type);
        auto* address = static_cast<unsigned char*>(view.data);
        if (address != nullptr) address += view.offset * ge::GetSizeInBits(type) / 8;
        instances.emplace_back(gert::StorageShape(shape, shape), gert::StorageFormat(format, format),
                               gert::kOnDeviceHbm, type, address);
        return true;
    }
    void add_one(gert::TensorGroup& group, const aclTensor* tensor, bool required) {
        std::vector<gert::Tensor> instances;
        if (tensor == nullptr) {
            if (required) status_ = ACLNN_ERR_PARAM_NULLPTR;
        } else if (!add_tensor(tensor, instances)) {
            status_ = ACLNN_ERR_PARAM_INVALID;
        }
        group.add(instances);
        is_list_.push_back(false);
    }
    void add_list(gert::TensorGroup& group, const aclTensorList* list) {
        std::vector<gert::Tensor> instances;
        uint64_t count = 0;
        if (list == nullptr || aclGetTensorListSize(list, &count) != ACLNN_SUCCESS) status_ = ACLNN_ERR_PARAM_NULLPTR;
        for (uint64_t i = 0; i < count; ++i) {
            const aclTensor* tensor = canopyOperatorTensorAt(list, i);
            if (tensor == nullptr || !add_tensor(tensor, instances)) status_ = ACLNN_ERR_PARAM_INVALID;
        }
        group.add(instances);
        is_list_.push_back(true);
    }

    // No output has an element.
    bool is_empty() const {
        for (const gert::Tensor& tensor : call_.outputs.tensors)
            if (tensor.GetShapeSize() != 0) return false;
        return !call_.outputs.tensors.empty();
    }

    bool has_types(const int32_t* types) const {
        for (const gert::TensorGroup* group : {&call_.inputs, &call_.outputs})
            for (std::size_t parameter = 0; parameter + 1 < group->first.size(); ++parameter, ++types)
                for (std::size_t i = group->first[parameter]; i < group->first[parameter + 1]; ++i)
                    if (group->tensors[i].GetDataType() != *types) return false;
        return true;
    }
    aclnnStatus find_kernel(const Instance* instances, std::size_t count, Work& work) const {
        int32_t device = 0;
        int64_t architecture = 0;
        if (aclrtGetDevice(&device) != ACL_SUCCESS ||
            aclrtGetDeviceInfo(static_cast<uint32_t>(device), ACL_DEV_ATTR_NPU_ARCH, &architecture) != ACL_SUCCESS)
            return ACLNN_ERR_RUNTIME_ERROR;
        bool types = false;
        for (std::size_t i = 0; i < count; ++i) {
            if (!has_types(instances[i].types)) continue;
            types = true;
            if (instances[i].architecture == architecture && instances[i].kernel != nullptr)
                work.kernel = instances[i].kernel;
        }
        if (!types) return ACLNN_ERR_PARAM_INVALID;
        return work.kernel != nullptr ? ACLNN_SUCCESS : ACLNN_ERR_INNER_FIND_KERNEL_ERROR;
    }

    aclnnStatus tile(Work& work) {
        const gert::OperatorFunctions functions = definition_->functions();
        if (functions.tiling == nullptr) return ACLNN_ERR_INNER_TILING_ERROR;
        gert::TilingContext context(call_);
        if (functions.parse != nullptr) {
            std::shared_ptr<void> info = functions.make_compile_info();
            gert::TilingParseContext parse(call_, info.get());
            if (functions.parse(&parse) != ge::GRAPH_SUCCESS) return ACLNN_ERR_INNER_TILING_ERROR;
            context.canopy_set_compile_info(std::move(info));
        }
        if (functions.tiling(&context) != ge::GRAPH_SUCCESS || context.GetBlockDim() == 0)
            return ACLNN_ERR_INNER_TILING_ERROR;
        work.blocks = context.GetBlockDim();
        for (const std::size_t size : context.canopy_workspaces()) work.workspace_size += (size + 31) / 32 * 32;
        make_block(work, context);
        return ACLNN_SUCCESS;
    }

    // One address for each parameter, then workspace, tiling and key.
    void make_block(Work& work, gert::TilingContext& context) const {
        const std::size_t parameters = is_list_.size();
        work.workspace_slot = parameters;
        work.block.assign(parameters + 3, 0);
        work.block[parameters + 2] = context.GetTilingKey();
        std::size_t slot = 0;
        for (const gert::TensorGroup* group : {&call_.inputs, &call_.outputs}) {
            for (std::size_t parameter = 0; parameter + 1 < group->first.size(); ++parameter, ++slot) {
                const std::size_t first = group->first[parameter], last = group->first[parameter + 1];
                if (is_list_[slot]) {
                    const std::vector<uint64_t> list = list_block(*group, first, last);
                    work.point(slot, list.data(), list.size() * sizeof(uint64_t));
                } else if (first != last) {
                    work.block[slot] = address_of(group->tensors[first]);
                }
            }
        }
        gert::TilingData& tiling = *context.GetRawTilingData();
        work.point(parameters + 1, tiling.GetData(), tiling.GetDataSize());
    }
    static uint64_t address_of(const gert::Tensor& tensor) { return reinterpret_cast<uint64_t>(tensor.GetAddr()); }
    // As AscendC::ListTensorDesc reads it: the offset of the addresses, the shapes, the addresses.
    static std::vector<uint64_t> list_block(const gert::TensorGroup& group, std::size_t first, std::size_t last) {
        std::vector<uint64_t> words{0};
        for (std::size_t i = first; i < last; ++i) {
            const gert::Shape& shape = group.tensors[i].GetStorageShape();
            words.push_back(shape.GetDimNum() | static_cast<uint64_t>(i - first) << 32);
            for (std::size_t axis = 0; axis < shape.GetDimNum(); ++axis)
                words.push_back(static_cast<uint64_t>(shape.GetDim(axis)));
        }
        words[0] = words.size() * sizeof(uint64_t);
        for (std::size_t i = first; i < last; ++i) words.push_back(address_of(group.tensors[i]));
        return words;
    }

    gert::OperatorCall call_;
    const ops::OpDef* definition_ = nullptr;
    std::vector<gert::RuntimeAttrs::Value> values_;
    std::vector<bool> is_list_;  // by parameter: inputs, then outputs
    aclnnStatus status_ = ACLNN_SUCCESS;
};

}  // namespace canopy::operators

#endif
