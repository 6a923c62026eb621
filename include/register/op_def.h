// SPDX-License-Identifier: Apache-2.0
// Definitions of operators: a class that derives from OpDef names inputs, outputs and attributes in its constructor,
// and OP_ADD (register/op_def_registry.h) makes it known. The build of an operator project reads the definitions.
#ifndef CANOPY_REGISTER_OP_DEF_H
#define CANOPY_REGISTER_OP_DEF_H

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "op_impl_registry.h"

namespace ops {

enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum class DependScope { ALL = 0, TILING = 1 };
enum class CommentSection { CATEGORY = 0, BRIEF = 1, CONSTRAINTS = 2, RESTRICTIONS = 3, SEE = 4 };

// An input or output. What concerns other programs than the kernel's build is accepted and has no effect.
class OpParamDef {
public:
    explicit OpParamDef(std::string name) : name_(std::move(name)) {}

    OpParamDef& ParamType(Option kind) {
        kind_ = kind;
        return *this;
    }
    // One type for each combination that the kernel is compiled for.
    OpParamDef& DataType(std::vector<ge::DataType> types) {
        types_ = std::move(types);
        return *this;
    }
    // Types that combine with those of all other parameters.
    OpParamDef& DataTypeList(std::vector<ge::DataType> types) {
        types_ = std::move(types);
        combines_ = true;
        return *this;
    }
    OpParamDef& Format(std::vector<ge::Format> formats) {
        formats_ = std::move(formats);
        return *this;
    }
    OpParamDef& FormatList(std::vector<ge::Format> formats) { return Format(std::move(formats)); }
    // The types and formats of another parameter.
    OpParamDef& Follow(const char* name) {
        follows_ = name;
        return *this;
    }
    OpParamDef& UnknownShapeFormat(std::vector<ge::Format>) { return *this; }
    OpParamDef& ValueDepend(Option) { return *this; }
    OpParamDef& ValueDepend(Option, DependScope) { return *this; }
    OpParamDef& IgnoreContiguous() { return *this; }
    OpParamDef& AutoContiguous() { return *this; }
    OpParamDef& Comment(const char*) { return *this; }
    OpParamDef& Version(uint32_t) { return *this; }

    const std::string& name() const { return name_; }
    Option kind() const { return kind_; }
    const std::vector<ge::DataType>& types() const { return types_; }
    bool combines() const { return combines_; }
    const std::vector<ge::Format>& formats() const { return formats_; }
    const std::string& follows() const { return follows_; }

private:
    std::string name_, follows_;
    Option kind_ = REQUIRED;
    bool combines_ = false;
    std::vector<ge::DataType> types_;
    std::vector<ge::Format> formats_;
};

class OpAttrDef {
public:
    enum class Type { none, boolean, integer, real, text, booleans, integers, reals };

    explicit OpAttrDef(std::string name) : name_(std::move(name)) {}

    OpAttrDef& AttrType(Option kind) {
        kind_ = kind;
        return *this;
    }
    OpAttrDef& Bool() { return set(Type::boolean); }
    OpAttrDef& Int() { return set(Type::integer); }
    OpAttrDef& Float() { return set(Type::real); }
    OpAttrDef& String() { return set(Type::text); }
    OpAttrDef& ListBool() { return set(Type::booleans); }
    OpAttrDef& ListInt() { return set(Type::integers); }
    OpAttrDef& ListFloat() { return set(Type::reals); }
    // With the value that an optional list has when the caller gives none. The other types always get one.
    OpAttrDef& Bool(bool) { return Bool(); }
    OpAttrDef& Int(int64_t) { return Int(); }
    OpAttrDef& Float(float) { return Float(); }
    OpAttrDef& String(const char* value) {
        text_ = value;
        return String();
    }
    OpAttrDef& ListBool(const std::vector<bool>& values) {
        numbers_.assign(values.begin(), values.end());
        return ListBool();
    }
    OpAttrDef& ListInt(const std::vector<int64_t>& values) {
        numbers_.assign(values.begin(), values.end());
        return ListInt();
    }
    OpAttrDef& ListFloat(const std::vector<float>& values) {
        reals_ = values;
        return ListFloat();
    }
    OpAttrDef& Comment(const char*) { return *this; }
    OpAttrDef& Version(uint32_t) { return *this; }

    const std::string& name() const { return name_; }
    Option kind() const { return kind_; }
    Type type() const { return type_; }
    const std::string& text() const { return text_; }
    const std::vector<int64_t>& numbers() const { return numbers_; }
    const std::vector<float>& reals() const { return reals_; }

private:
    OpAttrDef& set(Type type) {
        type_ = type;
        return *this;
    }

    std::string name_, text_;
    Option kind_ = REQUIRED;
    Type type_ = Type::none;
    std::vector<int64_t> numbers_;
    std::vector<float> reals_;
};

// Parameters by name, in the order in which they were named first. References to them stay valid.
template <class T>
class NamedList {
public:
    T& operator[](const char* name) {
        for (T& item : items_)
            if (item.name() == name) return item;
        items_.emplace_back(name);
        return items_.back();
    }
    const std::deque<T>& items() const { return items_; }

private:
    std::deque<T> items_;
};

// What a chip changes; inputs and outputs named here replace those of the operator on it.
class OpAICoreConfig {
public:
    OpAICoreConfig() = default;
    explicit OpAICoreConfig(const char*) {}

    OpParamDef& Input(const char* name) { return inputs_[name]; }
    OpParamDef& Output(const char* name) { return outputs_[name]; }
    OpAICoreConfig& DynamicCompileStaticFlag(bool) { return *this; }
    OpAICoreConfig& DynamicFormatFlag(bool) { return *this; }
    OpAICoreConfig& DynamicRankSupportFlag(bool) { return *this; }
    OpAICoreConfig& DynamicShapeSupportFlag(bool) { return *this; }
    OpAICoreConfig& NeedCheckSupportFlag(bool) { return *this; }
    OpAICoreConfig& PrecisionReduceFlag(bool) { return *this; }
    OpAICoreConfig& ExtendCfgInfo(const char*, const char*) { return *this; }

    const std::deque<OpParamDef>& inputs() const { return inputs_.items(); }
    const std::deque<OpParamDef>& outputs() const { return outputs_.items(); }

private:
    NamedList<OpParamDef> inputs_, outputs_;
};

class OpAICoreDef {
public:
    OpAICoreDef& SetTiling(gert::OperatorFunctions::TilingFunction function) {
        tiling_ = function;
        return *this;
    }
    OpAICoreDef& AddConfig(const char* chip) { return AddConfig(chip, {}); }
    OpAICoreDef& AddConfig(const char* chip, const OpAICoreConfig& config) {
        chips_.emplace_back(chip, config);
        return *this;
    }

    gert::OperatorFunctions::TilingFunction tiling() const { return tiling_; }
    const std::vector<std::pair<std::string, OpAICoreConfig>>& chips() const { return chips_; }

private:
    gert::OperatorFunctions::TilingFunction tiling_ = nullptr;
    std::vector<std::pair<std::string, OpAICoreConfig>> chips_;
};

class OpDef {
public:
    explicit OpDef(const char* type) : type_(type) {}
    virtual ~OpDef() = default;

    OpParamDef& Input(const char* name) { return inputs_[name]; }
    OpParamDef& Output(const char* name) { return outputs_[name]; }
    OpAttrDef& Attr(const char* name) { return attributes_[name]; }
    OpDef& SetInferShape(gert::OperatorFunctions::InferShapeFunction function) {
        infer_shape_ = function;
        return *this;
    }
    OpDef& SetInferDataType(gert::OperatorFunctions::InferDataTypeFunction function) {
        infer_data_type_ = function;
        return *this;
    }
    OpDef& Comment(const char*) { return *this; }
    OpDef& Comment(CommentSection, const char*) { return *this; }
    OpAICoreDef& AICore() { return core_; }

    const std::string& type() const { return type_; }
    const std::deque<OpParamDef>& inputs() const { return inputs_.items(); }
    const std::deque<OpParamDef>& outputs() const { return outputs_.items(); }
    const std::deque<OpAttrDef>& attributes() const { return attributes_.items(); }
    const OpAICoreDef& core() const { return core_; }
    // Those of the definition, then those of IMPL_OP.
    gert::OperatorFunctions functions() const {
        gert::OperatorFunctions result;
        const auto found = gert::operator_functions().find(type_);
        if (found != gert::operator_functions().end()) result = found->second;
        if (core_.tiling() != nullptr) result.tiling = core_.tiling();
        if (infer_shape_ != nullptr) result.infer_shape = infer_shape_;
        if (infer_data_type_ != nullptr) result.infer_data_type = infer_data_type_;
        return result;
    }

private:
    std::string type_;
    NamedList<OpParamDef> inputs_, outputs_;
    NamedList<OpAttrDef> attributes_;
    gert::OperatorFunctions::InferShapeFunction infer_shape_ = nullptr;
    gert::OperatorFunctions::InferDataTypeFunction infer_data_type_ = nullptr;
    OpAICoreDef core_;
};

}  // namespace ops

#endif
