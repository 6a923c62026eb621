// SPDX-License-Identifier: Apache-2.0
// What the host functions of an operator get: its tensors and attributes, and a place for their results.
//
// A parameter of an operator is required (one tensor), optional (one or none) or dynamic (any number). `index` without
// further words counts the tensors that are there; `irIndex` counts parameters, and `relativeIndex` the tensors of one.
//
// Threads: a context belongs to the call it was made for.
#ifndef CANOPY_EXE_GRAPH_CONTEXT_H
#define CANOPY_EXE_GRAPH_CONTEXT_H

#include <cstring>
#include <memory>
#include <vector>

#include "tensor.h"

namespace fe {
class PlatFormInfos;
}

namespace gert {

// The tensors of the inputs or outputs of one call.
struct TensorGroup {
    std::vector<Tensor> tensors;
    std::vector<CompileTimeTensorDesc> descriptions;  // of `tensors`
    std::vector<std::size_t> first;                   // of each parameter; one more at the end

    // Adds a parameter.
    void add(const std::vector<Tensor>& instances) {
        if (first.empty()) first.push_back(0);
        for (const Tensor& tensor : instances) {
            tensors.push_back(tensor);
            descriptions.emplace_back(tensor.GetDataType(), tensor.GetFormat());
        }
        first.push_back(tensors.size());
    }
    // Its place among the tensors; SIZE_MAX: there is none.
    std::size_t place(std::size_t parameter, std::size_t relative) const {
        if (parameter + 1 >= first.size() || first[parameter] + relative >= first[parameter + 1]) return SIZE_MAX;
        return first[parameter] + relative;
    }
    template <class List>
    static auto at(List& list, std::size_t index) {
        return index < list.size() ? &list[index] : nullptr;
    }
};

// One call of an operator.
struct OperatorCall {
    const char* name = "";
    const char* type = "";
    TensorGroup inputs, outputs;
    std::unique_ptr<RuntimeAttrs> attributes = std::make_unique<RuntimeAttrs>();
};

class ContextBase {
public:
    explicit ContextBase(OperatorCall& call) : call_(call) {}

    const char* GetNodeName() const { return call_.name; }
    const char* GetNodeType() const { return call_.type; }
    const RuntimeAttrs* GetAttrs() const { return call_.attributes.get(); }
    std::size_t GetComputeNodeInputNum() const { return call_.inputs.tensors.size(); }
    std::size_t GetComputeNodeOutputNum() const { return call_.outputs.tensors.size(); }

    const CompileTimeTensorDesc* GetInputDesc(std::size_t index) const {
        return TensorGroup::at(call_.inputs.descriptions, index);
    }
    const CompileTimeTensorDesc* GetOutputDesc(std::size_t index) const {
        return TensorGroup::at(call_.outputs.descriptions, index);
    }
    const CompileTimeTensorDesc* GetOptionalInputDesc(std::size_t irIndex) const {
        return GetInputDesc(call_.inputs.place(irIndex, 0));
    }
    const CompileTimeTensorDesc* GetRequiredInputDesc(std::size_t irIndex) const {
        return GetInputDesc(call_.inputs.place(irIndex, 0));
    }
    const CompileTimeTensorDesc* GetDynamicInputDesc(std::size_t irIndex, std::size_t relativeIndex) const {
        return GetInputDesc(call_.inputs.place(irIndex, relativeIndex));
    }
    const Tensor* GetInputTensor(std::size_t index) const { return TensorGroup::at(call_.inputs.tensors, index); }
    const Tensor* GetRequiredInputTensor(std::size_t irIndex) const {
        return GetInputTensor(call_.inputs.place(irIndex, 0));
    }
    const Tensor* GetOptionalInputTensor(std::size_t irIndex) const {
        return GetInputTensor(call_.inputs.place(irIndex, 0));
    }
    const Tensor* GetDynamicInputTensor(std::size_t irIndex, std::size_t relativeIndex) const {
        return GetInputTensor(call_.inputs.place(irIndex, relativeIndex));
    }

protected:
    OperatorCall& call_;
};

// The bytes that the kernel reads as its tiling.
class TilingData {
public:
    explicit TilingData(std::size_t capacity) : bytes_(capacity) {}

    void* GetData() { return bytes_.data(); }
    const void* GetData() const { return bytes_.data(); }
    std::size_t GetCapacity() const { return bytes_.size(); }
    std::size_t GetDataSize() const { return size_; }
    void SetDataSize(std::size_t size) { size_ = size < bytes_.size() ? size : bytes_.size(); }
    template <class T>
    ge::graphStatus Append(const T& value) {
        if (bytes_.size() - size_ < sizeof value) return ge::GRAPH_FAILED;
        std::memcpy(bytes_.data() + size_, &value, sizeof value);
        size_ += sizeof value;
        return ge::GRAPH_SUCCESS;
    }

private:
    std::vector<unsigned char> bytes_;
    std::size_t size_ = 0;
};

class TilingContext : public ContextBase {
public:
    static constexpr std::size_t kTilingCapacity = 16 * 1024;

    explicit TilingContext(OperatorCall& call) : ContextBase(call), data_(kTilingCapacity) {}

    const StorageShape* GetInputShape(std::size_t index) const { return shape_of(GetInputTensor(index)); }
    const StorageShape* GetRequiredInputShape(std::size_t irIndex) const {
        return shape_of(GetRequiredInputTensor(irIndex));
    }
    const StorageShape* GetOptionalInputShape(std::size_t irIndex) const {
        return shape_of(GetOptionalInputTensor(irIndex));
    }
    const StorageShape* GetDynamicInputShape(std::size_t irIndex, std::size_t relativeIndex) const {
        return shape_of(GetDynamicInputTensor(irIndex, relativeIndex));
    }
    const StorageShape* GetOutputShape(std::size_t index) const {
        return shape_of(TensorGroup::at(call_.outputs.tensors, index));
    }

    ge::graphStatus SetBlockDim(uint32_t blocks) {
        blocks_ = blocks;
        return ge::GRAPH_SUCCESS;
    }
    uint32_t GetBlockDim() const { return blocks_; }
    ge::graphStatus SetTilingKey(uint64_t key) {
        key_ = key;
        return ge::GRAPH_SUCCESS;
    }
    uint64_t GetTilingKey() const { return key_; }
    // These do not change how a kernel is launched here.
    ge::graphStatus SetScheduleMode(uint32_t) { return ge::GRAPH_SUCCESS; }
    ge::graphStatus SetNeedAtomic(bool) { return ge::GRAPH_SUCCESS; }
    ge::graphStatus SetLocalMemorySize(uint32_t) { return ge::GRAPH_SUCCESS; }
    int32_t GetDeterministic() const { return 0; }

    // The place for the sizes of `count` workspaces.
    std::size_t* GetWorkspaceSizes(std::size_t count) {
        workspaces_.assign(count, 0);
        return workspaces_.data();
    }
    std::size_t GetWorkspaceNum() const { return workspaces_.size(); }
    const std::vector<std::size_t>& canopy_workspaces() const { return workspaces_; }

    TilingData* GetRawTilingData() { return &data_; }
    // A plain structure as the tiling.
    template <class T>
    T* GetTilingData() {
        if (sizeof(T) > data_.GetCapacity()) return nullptr;
        data_.SetDataSize(sizeof(T));
        return static_cast<T*>(data_.GetData());
    }

    // platform_ascendc::PlatformAscendC takes it, and knows the chip by itself.
    fe::PlatFormInfos* GetPlatformInfo() const {
        static char place;
        return reinterpret_cast<fe::PlatFormInfos*>(&place);
    }
    // What the function for TilingParse left.
    const void* GetCompileInfo() const { return compiled_.get(); }
    template <class T>
    const T* GetCompileInfo() const {
        return static_cast<const T*>(compiled_.get());
    }
    void canopy_set_compile_info(std::shared_ptr<void> info) { compiled_ = std::move(info); }

private:
    static const StorageShape* shape_of(const Tensor* tensor) {
        return tensor == nullptr ? nullptr : &tensor->GetShape();
    }

    uint32_t blocks_ = 1;
    uint64_t key_ = 0;
    std::vector<std::size_t> workspaces_;
    TilingData data_;
    std::shared_ptr<void> compiled_;
};

class TilingParseContext : public ContextBase {
public:
    TilingParseContext(OperatorCall& call, void* info) : ContextBase(call), info_(info) {}

    template <class T>
    T* GetCompiledInfo() {
        return static_cast<T*>(info_);
    }
    fe::PlatFormInfos* GetPlatformInfo() const {
        static char place;
        return reinterpret_cast<fe::PlatFormInfos*>(&place);
    }
    const char* GetCompiledJson() const { return "{}"; }

private:
    void* info_;
};

class InferShapeContext : public ContextBase {
public:
    using ContextBase::ContextBase;

    const Shape* GetInputShape(std::size_t index) const { return shape_of(GetInputTensor(index)); }
    const Shape* GetRequiredInputShape(std::size_t irIndex) const { return shape_of(GetRequiredInputTensor(irIndex)); }
    const Shape* GetOptionalInputShape(std::size_t irIndex) const { return shape_of(GetOptionalInputTensor(irIndex)); }
    const Shape* GetDynamicInputShape(std::size_t irIndex, std::size_t relativeIndex) const {
        return shape_of(GetDynamicInputTensor(irIndex, relativeIndex));
    }
    Shape* GetOutputShape(std::size_t index) {
        Tensor* tensor = TensorGroup::at(call_.outputs.tensors, index);
        return tensor == nullptr ? nullptr : &tensor->MutableOriginShape();
    }

private:
    static const Shape* shape_of(const Tensor* tensor) {
        return tensor == nullptr ? nullptr : &tensor->GetOriginShape();
    }
};

class InferDataTypeContext : public ContextBase {
public:
    using ContextBase::ContextBase;

    ge::DataType GetInputDataType(std::size_t index) const { return type_of(GetInputTensor(index)); }
    ge::DataType GetRequiredInputDataType(std::size_t irIndex) const {
        return type_of(GetRequiredInputTensor(irIndex));
    }
    ge::DataType GetOptionalInputDataType(std::size_t irIndex) const {
        return type_of(GetOptionalInputTensor(irIndex));
    }
    ge::DataType GetDynamicInputDataType(std::size_t irIndex, std::size_t relativeIndex) const {
        return type_of(GetDynamicInputTensor(irIndex, relativeIndex));
    }
    ge::DataType GetOutputDataType(std::size_t index) const {
        return type_of(TensorGroup::at(call_.outputs.tensors, index));
    }
    ge::graphStatus SetOutputDataType(std::size_t index, ge::DataType type) {
        Tensor* tensor = TensorGroup::at(call_.outputs.tensors, index);
        if (tensor == nullptr) return ge::GRAPH_FAILED;
        tensor->SetDataType(type);
        return ge::GRAPH_SUCCESS;
    }

private:
    static ge::DataType type_of(const Tensor* tensor) {
        return tensor == nullptr ? ge::DT_UNDEFINED : tensor->GetDataType();
    }
};

// A call that allocates its outputs itself. `Allocate` gives device memory, or null.
class EagerOpExecutionContext : public ContextBase {
public:
    using Allocate = void* (*)(std::size_t bytes, void* stream);

    EagerOpExecutionContext(OperatorCall& call, void* stream, Allocate allocate)
        : ContextBase(call), stream_(stream), allocate_(allocate) {}

    // Null if there is no such output, or no memory for it.
    Tensor* MallocOutputTensor(std::size_t index, const StorageShape& shape, const StorageFormat& format,
                               ge::DataType type) {
        Tensor* tensor = TensorGroup::at(call_.outputs.tensors, index);
        if (tensor == nullptr) return nullptr;
        *tensor = Tensor(shape, format, type);
        const std::size_t size = tensor->GetSize();
        tensor->SetAddr(size == 0 ? nullptr : allocate_(size, stream_));
        return size != 0 && tensor->GetAddr() == nullptr ? nullptr : tensor;
    }
    void* GetStream() const { return stream_; }

private:
    void* stream_;
    Allocate allocate_;
};

}  // namespace gert

#endif
