// SPDX-License-Identifier: Apache-2.0
// Names of the kernel language that Canopy does not have: the compiler's error names each of them, and programs may use
// such names for their own functions and types. The names are invented: the compiler gets a tree with a table of them.
#include <filesystem>
#include <fstream>

#include "compiler.h"

namespace canopy::test {
namespace {

const std::string header = "#include \"kernel_operator.h\"\nusing namespace AscendC;\n";

constexpr const char* table =
    "name\tkind\tfamily\tadvice\n"
    "AscendC::Blur\tfunc\tadv\tcompose it\n"
    "AscendC::Sharpen\tfunc\tadv\tcompose it\n"
    "AscendC::Unfold\tfunc\tadv\tcompose it\n"
    "AscendC::Refold\tfunc\tadv\tcompose it\n"
    "AscendC::RefoldPara\tclass\tadv\tcompose it\n"
    "AscendC::UnfoldShape\tclass\tadv\tcompose it\n"
    "AscendC::BlurAlgo\tenum\tadv\tcompose it\n"
    "AscendC::FoldPattern\tenum\tadv\tcompose it\n"
    "AscendC::Far\tnamespace\treg\twrite it otherwise\n"
    "AscendC::Near\tnamespace\treg\twrite it otherwise\n"
    "AscendC::Wide\tnamespace\ttensor-api\twrite it otherwise\n"
    "asc_unbuilt\tfunc\tc-api\twrite it otherwise\n";

class MissingNames : public Toolchain {
protected:
    MissingNames() {
        namespace fs = std::filesystem;
        const fs::path from = fs::path(CANOPY_TEST_CC).parent_path().parent_path(), to = directory_ + "/tree";
        fs::create_directories(to / "bin");
        fs::create_directories(to / "share/canopy");
        fs::copy_file(CANOPY_TEST_CC, to / "bin/canopy-cc");
        for (const char* part : {"include", "toolchain", "lib64"}) fs::create_symlink(from / part, to / part);
        fs::copy_file(from / "share/canopy/families.txt", to / "share/canopy/families.txt");
        std::ofstream(to / "share/canopy/unsupported.tsv") << table;
        compiler_ = to / "bin/canopy-cc";
    }

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
        {"Blur(t, t, 32);", "AscendC::Blur"},
        {"AscendC::Sharpen(t, t, 32);", "AscendC::Sharpen"},
        {"Unfold<float, true>(t, t);", "AscendC::Unfold"},
        {"AscendC::Refold<float, true>(t, t);", "AscendC::Refold"},
        {"RefoldPara shape{};", "AscendC::RefoldPara"},
        {"AscendC::UnfoldShape info;", "AscendC::UnfoldShape"},
        {"auto how = BlurAlgo::INTRINSIC;", "AscendC::BlurAlgo"},
        {"Far::Thing<float> r;", "AscendC::Far"},
        {"AscendC::Near::Thing<float> s;", "AscendC::Near"},
        {"using namespace AscendC::Wide;", "AscendC::Wide"},
        {"asc_unbuilt(out, out);", "asc_unbuilt"},
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
    const auto missing = uses(tensor + "Blur(t, t, 32);");
    EXPECT_CONTAINS(missing.messages, explained("AscendC::Blur"));
    EXPECT_LACKS(missing.messages, "did you mean");
    EXPECT_LACKS(missing.messages, "'Relu' declared here");
    const auto mistyped = uses(tensor + "Blur(t, t, 32);\nRelux(t, t, 32);");
    EXPECT_CONTAINS(mistyped.messages, "'Relux'; did you mean 'Relu'?");
    EXPECT_CONTAINS(mistyped.messages, "'Relu' declared here");
}

TEST_F(MissingNames, AreNamedInsideTemplates) {
    const std::string before =
        "template <class T> __aicore__ void f(LocalTensor<T> t) { Blur(t, t, 32); Unfold<T>(t, t); }";
    const auto result = uses("LocalTensor<float> t; f(t);", before);
    EXPECT_EQ(result.status, 1);
    EXPECT_CONTAINS(result.messages, explained("AscendC::Blur"));
    EXPECT_CONTAINS(result.messages, explained("AscendC::Unfold"));
}

TEST_F(MissingNames, AreExplainedOnceBehindTheFirstError) {
    const auto result = uses("LocalTensor<float> t; Blur(t, t, 32); AscendC::Blur(t, t, 32);");
    EXPECT_EQ(count(result.messages, explained("AscendC::Blur")), 1u) << result.messages;
    EXPECT_LT(result.messages.find(explained("AscendC::Blur")), result.messages.find("no member named 'Blur'"));
}

TEST_F(MissingNames, OtherMistakesAreNotExplained) {
    const auto result = uses("*out = misspelt + AscendC::Misspelt(3); struct Own {} own; own.Blur();");
    EXPECT_EQ(result.status, 1);
    EXPECT_LACKS(result.messages, "Canopy");
}

TEST_F(MissingNames, AFunctionOfTheProgramIsCalledWithArgumentsThatConvert) {
    const auto module = load(uses("int64_t count = 70; *out = Sharpen(count, 8) + Blur(2.5f);",
                                  "__aicore__ inline int32_t Sharpen(int32_t a, int32_t b) { return a + b; }\n"
                                  "template <class T> __aicore__ inline T Blur(const T& x) { return x * 2; }"));
    ASSERT_NE(module, nullptr);
    std::int64_t result = 0;
    std::int64_t* argument = &result;
    call(*module, "k", &argument);
    EXPECT_EQ(result, 83);
}

TEST_F(MissingNames, TypesOfTheProgramMayHaveThem) {
    const auto result = uses(
        "RefoldPara shape{3}; FoldPattern pattern = FoldPattern::ALL; Unfold sum; "
        "*out = shape.n + (pattern == FoldPattern::ALL) + sum.x;",
        "struct RefoldPara { int n; }; enum class FoldPattern { ALL }; "
        "template <class T> struct SumOf { T x = 0; }; using Unfold = SumOf<int>;");
    EXPECT_EQ(result.status, 0) << result.messages;
    EXPECT_EQ(result.messages, "");
}

TEST_F(MissingNames, HeadersThatAreNotThereAreExplained) {
    compiler_ = CANOPY_TEST_CC;  // with the table of the product
    const auto kernel = compile("#include \"register/op_check.h\"\n" + header);
    EXPECT_EQ(kernel.status, 1);
    EXPECT_CONTAINS(kernel.messages, "kernel.cpp:1:10: note: register/op_check.h is not part of Canopy; ");
    EXPECT_CONTAINS(compile("#include \"lib/activation/unknown.h\"\n" + header).messages,
                    "note: lib/activation/unknown.h is not part of Canopy; include kernel_operator.h");
    write("plain.cpp", "#include <graph/graph.h>\n");
    const auto plain = run("-c plain.cpp");
    EXPECT_EQ(plain.status, 1);
    EXPECT_CONTAINS(plain.messages, "plain.cpp:1:10: note: graph/graph.h is not part of Canopy; ");
    write("other.cpp", "#include \"nowhere.h\"\n");
    EXPECT_LACKS(run("-c other.cpp").messages, "Canopy");
}

TEST_F(MissingNames, ColoursOfATerminalDoNotHideThem) {
    const auto result = uses("Blur(1);", "", "-fcolor-diagnostics");
    EXPECT_EQ(result.status, 1);
    EXPECT_CONTAINS(result.messages, explained("AscendC::Blur"));
}

}  // namespace
}  // namespace canopy::test
