// SPDX-License-Identifier: Apache-2.0
// The host functions of operators by the operators' names:
//
//   IMPL_OP_OPTILING(AddCustom).Tiling(function).TilingParse<CompileInfo>(function);
//   IMPL_OP_INFERSHAPE(AddCustom).InferShape(function).InferDataType(function);
//
// Registration happens before main, by one thread.
#ifndef CANOPY_REGISTER_OP_IMPL_REGISTRY_H
#define CANOPY_REGISTER_OP_IMPL_REGISTRY_H

#include <map>
#include <memory>
#include <string>

#include "../exe_graph/runtime/context.h"

namespace gert {

struct OperatorFunctions {
    using TilingFunction = ge::graphStatus (*)(TilingContext*);
    using TilingParseFunction = ge::graphStatus (*)(TilingParseContext*);
    using InferShapeFunction = ge::graphStatus (*)(InferShapeContext*);
    using InferDataTypeFunction = ge::graphStatus (*)(InferDataTypeContext*);

    TilingFunction tiling = nullptr;
    TilingParseFunction parse = nullptr;
    std::shared_ptr<void> (*make_compile_info)() = nullptr;
    InferShapeFunction infer_shape = nullptr;
    InferDataTypeFunction infer_data_type = nullptr;
};

// Of one library or program.
inline std::map<std::string, OperatorFunctions>& operator_functions() {
    static std::map<std::string, OperatorFunctions> functions;
    return functions;
}

class OpImplRegisterV2 {
public:
    explicit OpImplRegisterV2(const char* op) : functions_(&operator_functions()[op]) {}

    OpImplRegisterV2& Tiling(OperatorFunctions::TilingFunction function) {
        functions_->tiling = function;
        return *this;
    }
    template <class CompileInfo>
    OpImplRegisterV2& TilingParse(OperatorFunctions::TilingParseFunction function) {
        functions_->parse = function;
        functions_->make_compile_info = []() -> std::shared_ptr<void> { return std::make_shared<CompileInfo>(); };
        return *this;
    }
    OpImplRegisterV2& InferShape(OperatorFunctions::InferShapeFunction function) {
        functions_->infer_shape = function;
        return *this;
    }
    OpImplRegisterV2& InferDataType(OperatorFunctions::InferDataTypeFunction function) {
        functions_->infer_data_type = function;
        return *this;
    }
    // Which inputs a function reads does not matter: all of them are known when it is called.
    OpImplRegisterV2& TilingInputsDataDependency(std::initializer_list<int32_t>) { return *this; }
    OpImplRegisterV2& InputsDataDependency(std::initializer_list<int32_t>) { return *this; }

private:
    OperatorFunctions* functions_;
};
using OpImplRegister = OpImplRegisterV2;

}  // namespace gert

#define CANOPY_IMPL_JOIN_NAMES(left, right) left##right
#define CANOPY_IMPL_JOIN(left, right) CANOPY_IMPL_JOIN_NAMES(left, right)
#define IMPL_OP(op)                                                                                              \
    [[maybe_unused]] static ::gert::OpImplRegisterV2 CANOPY_IMPL_JOIN(canopy_implemented_##op##_, __COUNTER__) = \
        ::gert::OpImplRegisterV2(#op)
#define IMPL_OP_OPTILING(op) IMPL_OP(op)
#define IMPL_OP_INFERSHAPE(op) IMPL_OP(op)

#endif
