// SPDX-License-Identifier: Apache-2.0
// Names of the kernel language that Canopy does not have: the compiler's error names each of them, and programs may use
// such names for their own functions and types.
#include "compiler.h"

namespace canopy::test {
namespace {

const std::string header = "#include \"kernel_operator.h\"\nusing namespace AscendC;\n";

class MissingNames : public Toolchain {
protected:
    // Compiles a kernel whose statements start at line 5.
    Compilation uses(const std::string& statements, const std::string& before = "",
                     const std::string& flags = "") const {
        return compile(header + before + "\n__global__ __vector__ void k(int64_t* out) {\n" + statements + "\n}\n",
                       "-O0 --targets=baseline --no-trace " + flags);
    }
};

std::string explained(const std::string& name) { return ": note: " + name + " is not supported by Canopy yet; "; }

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

TEST_F(MissingNames, AreNamedInEveryFormOfUse) {
    struct Use {
        std::string statement, name;
    };
    const std::vector<Use> uses_of_names = {
        {"Gelu(t, t, 32);", "AscendC::Gelu"},
        {"AscendC::Silu(t, t, 32);", "AscendC::Silu"},
        {"SoftMax<float, true>(t, t);", "AscendC::SoftMax"},
        {"AscendC::LayerNorm<float, true>(t, t);", "AscendC::LayerNorm"},
        {"LayerNormPara shape{};", "AscendC::LayerNormPara"},
        {"AscendC::SoftMaxShapeInfo info;", "AscendC::SoftMaxShapeInfo"},
        {"auto how = PowerAlgo::INTRINSIC;", "AscendC::PowerAlgo"},
        {"Reg::RegTensor<float> r;", "AscendC::Reg"},
        {"AscendC::MicroAPI::RegTensor<float> s;", "AscendC::MicroAPI"},
        {"using namespace AscendC::Te;", "AscendC::Te"},
        {"asc_copy_gm2ub(out, out);", "asc_copy_gm2ub"},
    };
    std::string statements = "LocalTensor<float> t;";
    for (const Use& use : uses_of_names) statements += "\n" + use.statement;
    const auto result = uses(statements, "", "-ferror-limit=0");
    EXPECT_EQ(result.status, 1);
    int line = 6;
    for (const Use& use : uses_of_names) {
        const std::size_t at = result.messages.find(explained(use.name));
        ASSERT_NE(at, std::string::npos) << use.name << "\n" << result.messages;
        const std::size_t begin = result.messages.rfind('\n', at) + 1;
        EXPECT_CONTAINS(result.messages.substr(begin, at - begin), "kernel.cpp:" + std::to_string(line++) + ":");
    }
}

TEST_F(MissingNames, AreNotTakenForOtherNames) {
    const std::string tensor = "LocalTensor<float> t;\n";
    const auto missing = uses(tensor + "Gelu(t, t, 32);");
    EXPECT_CONTAINS(missing.messages, explained("AscendC::Gelu"));
    EXPECT_LACKS(missing.messages, "did you mean");
    EXPECT_LACKS(missing.messages, "'Relu' declared here");
    const auto mistyped = uses(tensor + "Gelu(t, t, 32);\nRelux(t, t, 32);");
    EXPECT_CONTAINS(mistyped.messages, "'Relux'; did you mean 'Relu'?");
    EXPECT_CONTAINS(mistyped.messages, "'Relu' declared here");
}

TEST_F(MissingNames, AreNamedInsideTemplates) {
    const std::string before =
        "template <class T> __aicore__ void f(LocalTensor<T> t) { Gelu(t, t, 32); SoftMax<T>(t, t); }";
    const auto result = uses("LocalTensor<float> t; f(t);", before);
    EXPECT_EQ(result.status, 1);
    EXPECT_CONTAINS(result.messages, explained("AscendC::Gelu"));
    EXPECT_CONTAINS(result.messages, explained("AscendC::SoftMax"));
}

TEST_F(MissingNames, AreExplainedOnceBehindTheFirstError) {
    const auto result = uses("LocalTensor<float> t; Gelu(t, t, 32); AscendC::Gelu(t, t, 32);");
    EXPECT_EQ(count(result.messages, explained("AscendC::Gelu")), 1u) << result.messages;
    EXPECT_LT(result.messages.find(explained("AscendC::Gelu")), result.messages.find("no member named 'Gelu'"));
}

TEST_F(MissingNames, OtherMistakesAreNotExplained) {
    const auto result = uses("*out = misspelt + AscendC::Misspelt(3); struct Own {} own; own.Gelu();");
    EXPECT_EQ(result.status, 1);
    EXPECT_LACKS(result.messages, "Canopy");
}

TEST_F(MissingNames, AFunctionOfTheProgramIsCalledWithArgumentsThatConvert) {
    const auto module = load(uses("int64_t count = 70; *out = Sum(count, 8) + Gelu(2.5f);",
                                  "__aicore__ inline int32_t Sum(int32_t a, int32_t b) { return a + b; }\n"
                                  "template <class T> __aicore__ inline T Gelu(const T& x) { return x * 2; }"));
    ASSERT_NE(module, nullptr);
    std::int64_t result = 0;
    std::int64_t* argument = &result;
    call(*module, "k", &argument);
    EXPECT_EQ(result, 83);
}

TEST_F(MissingNames, TypesOfTheProgramMayHaveThem) {
    const auto result = uses(
        "LayerNormPara shape{3}; MaskPattern pattern = MaskPattern::ALL; Sum sum; "
        "*out = shape.n + (pattern == MaskPattern::ALL) + sum.x;",
        "struct LayerNormPara { int n; }; enum class MaskPattern { ALL }; "
        "template <class T> struct SumOf { T x = 0; }; using Sum = SumOf<int>;");
    EXPECT_EQ(result.status, 0) << result.messages;
    EXPECT_EQ(result.messages, "");
}

TEST_F(MissingNames, HeadersThatAreNotThereAreExplained) {
    const auto kernel = compile("#include \"register/op_def_registry.h\"\n" + header);
    EXPECT_EQ(kernel.status, 1);
    EXPECT_CONTAINS(kernel.messages, "kernel.cpp:1:10: note: register/op_def_registry.h is not part of Canopy; ");
    EXPECT_CONTAINS(compile("#include \"lib/activation/gelu.h\"\n" + header).messages,
                    "note: lib/activation/gelu.h is not part of Canopy; compose it");
    write("plain.cpp", "#include <graph/graph.h>\n");
    const auto plain = run("-c plain.cpp");
    EXPECT_EQ(plain.status, 1);
    EXPECT_CONTAINS(plain.messages, "plain.cpp:1:10: note: graph/graph.h is not part of Canopy; ");
    write("other.cpp", "#include \"nowhere.h\"\n");
    EXPECT_LACKS(run("-c other.cpp").messages, "Canopy");
}

TEST_F(MissingNames, ColoursOfATerminalDoNotHideThem) {
    const auto result = uses("Gelu(1);", "", "-fcolor-diagnostics");
    EXPECT_EQ(result.status, 1);
    EXPECT_CONTAINS(result.messages, explained("AscendC::Gelu"));
}

}  // namespace
}  // namespace canopy::test
