// SPDX-License-Identifier: Apache-2.0
// Prints what the host sources of an operator project define, as JSON, for the tool that generates the rest. The build
// compiles it with those sources into a program and runs that.
#ifndef CANOPY_OPERATOR_DESCRIPTION_H
#define CANOPY_OPERATOR_DESCRIPTION_H

#include <register/op_def_registry.h>

#include <cstdio>
#include <memory>
#include <string>

namespace canopy::operators {

class Description {
public:
    static void print(std::FILE* file) {
        Description self(file);
        self.operators();
        self.tilings();
        self.keys();
        std::fputs("}\n", file);
    }

private:
    // By OpAttrDef::Type and by tiling_key::Kind.
    static constexpr const char* attribute_types[] = {"none",   "bool",  "int",  "float",
                                                      "string", "bools", "ints", "floats"};
    static constexpr const char* argument_kinds[] = {"",     "combination", "dtype",       "datatype", "format",
                                                     "uint", "bool",        "kernel_type", "other"};

    explicit Description(std::FILE* file) : file_(file) {}

    void text(const char* value) {
        std::fputc('"', file_);
        for (; *value != 0; ++value) {
            if (*value == '"' || *value == '\\') std::fputc('\\', file_);
            std::fputc(static_cast<unsigned char>(*value) < 32 ? ' ' : *value, file_);
        }
        std::fputc('"', file_);
    }
    void key(const char* name, const char* before = ", ") {
        std::fputs(before, file_);
        text(name);
        std::fputs(": ", file_);
    }
    void pair(const char* name, const std::string& value, const char* before = ", ") {
        key(name, before);
        text(value.c_str());
    }
    template <class List, class Print>
    void list(const char* name, const List& items, Print print, const char* before = ", ") {
        key(name, before);
        std::fputc('[', file_);
        const char* between = "";
        for (const auto& item : items) {
            std::fputs(between, file_);
            print(item);
            between = ", ";
        }
        std::fputc(']', file_);
    }

    void parameter(const ops::OpParamDef& parameter) {
        pair("name", parameter.name(), "{");
        pair("kind", parameter.kind() == ops::DYNAMIC    ? "dynamic"
                     : parameter.kind() == ops::OPTIONAL ? "optional"
                                                         : "required");
        list("types", parameter.types(), [&](ge::DataType type) { std::fprintf(file_, "%d", static_cast<int>(type)); });
        list("formats", parameter.formats(),
             [&](ge::Format format) { std::fprintf(file_, "%d", static_cast<int>(format)); });
        pair("follows", parameter.follows());
        std::fprintf(file_, ", \"combines\": %s}", parameter.combines() ? "true" : "false");
    }
    template <class Owner>
    void parameters(const Owner& owner) {
        list("inputs", owner.inputs(), [&](const auto& item) { parameter(item); });
        list("outputs", owner.outputs(), [&](const auto& item) { parameter(item); });
    }
    void operators() {
        list(
            "operators", ops::added_operators(),
            [&](const auto& item) {
                pair("name", item->type(), "{");
                parameters(*item);
                list("attributes", item->attributes(), [&](const ops::OpAttrDef& attribute) {
                    pair("name", attribute.name(), "{");
                    pair("type", attribute_types[static_cast<int>(attribute.type())]);
                    std::fprintf(file_, ", \"required\": %s}", attribute.kind() == ops::REQUIRED ? "true" : "false");
                });
                list("chips", item->core().chips(), [&](const auto& chip) {
                    pair("name", chip.first, "{");
                    parameters(chip.second);
                    std::fputc('}', file_);
                });
                std::fputc('}', file_);
            },
            "{");
    }

    void tiling(const optiling::TilingDef& definition) {
        pair("name", definition.GetTilingClassName(), "{");
        list("fields", definition.canopy_fields(), [&](const optiling::TilingDef::Field& field) {
            pair("type", field.type, "{");
            pair("name", field.name);
            std::fprintf(file_, ", \"count\": %zu", field.count);
            if (field.structure != 0) {
                key("structure");
                tiling(definition.canopy_structure(field));
            }
            std::fputc('}', file_);
        });
        std::fputc('}', file_);
    }
    void tilings() {
        std::vector<const optiling::TilingClass*> classes;
        for (const auto* at = optiling::TilingClass::first; at != nullptr; at = at->next) classes.push_back(at);
        list("tilings", classes, [&](const optiling::TilingClass* item) {
            pair("operator", item->op, "{");
            key("class");
            tiling(*std::unique_ptr<optiling::TilingDef>(item->make()));
            std::fputc('}', file_);
        });
    }

    // Arguments as [kind, name, values...].
    void arguments(const char* name, tiling_key::List items) {
        key(name);
        std::fputc('[', file_);
        const char* between = "";
        for (const tiling_key::Item* item = items.begin; item != items.end; ++item) {
            if (item->kind == tiling_key::Kind::end) continue;
            if (item->kind != tiling_key::Kind::none) {
                std::fputs(item == items.begin ? "[" : "], [", file_);
                text(argument_kinds[static_cast<int>(item->kind)]);
            } else {
                std::fputs(between, file_);
                if (item->text != nullptr)
                    text(item->text);
                else
                    std::fprintf(file_, "%lld", item->number);
            }
            between = ", ";
        }
        std::fputs(items.begin == items.end ? "]" : "]]", file_);
    }
    void keys() {
        std::vector<const tiling_key::Registered*> all;
        for (const auto* at = tiling_key::Registered::first; at != nullptr; at = at->next) all.push_back(at);
        list("keys", all, [&](const tiling_key::Registered* item) {
            pair("operator", item->op, "{");
            arguments("declared", item->declared);
            arguments("selected", item->selected);
            std::fputc('}', file_);
        });
    }

    std::FILE* file_;
};

}  // namespace canopy::operators

#endif
