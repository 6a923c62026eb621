// SPDX-License-Identifier: Apache-2.0
// The matrix product of the software NPU compared with sums in double precision: every vector width this machine
// supports, random shapes, element types, layouts, bias and accumulation, special values.
#include "device/soft/product/product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "canopy/kernel_image.h"
#include "foundation/half.h"

namespace canopy {
namespace {

std::vector<int> levels() {
    std::vector<int> all;
    for (int level = CANOPY_BASELINE_LEVEL; level <= highest_product_level(); ++level) all.push_back(level);
    return all;
}

std::size_t bits_of(std::uint32_t type) {
    switch (type) {
        case CANOPY_ELEMENT_FLOAT:
        case CANOPY_ELEMENT_INT32:
            return 32;
        case CANOPY_ELEMENT_HALF:
        case CANOPY_ELEMENT_BFLOAT16:
            return 16;
        case CANOPY_ELEMENT_INT4:
        case CANOPY_ELEMENT_FLOAT4_E2M1:
        case CANOPY_ELEMENT_FLOAT4_E1M2:
            return 4;
        default:
            return 8;
    }
}

// A matrix in memory, with the value of every element also kept as a double.
struct Stored {
    std::uint32_t type = 0;
    std::int64_t rows = 0, columns = 0;
    std::int64_t row_stride = 0, column_stride = 0;
    CanopyBlocking blocks{};
    std::vector<unsigned char> bytes;

    [[nodiscard]] std::int64_t offset(std::int64_t i, std::int64_t j) const {
        const std::int64_t row =
            blocks.rows ? i / blocks.rows * blocks.row_stride + i % blocks.rows * row_stride : i * row_stride;
        const std::int64_t column = blocks.columns
                                        ? j / blocks.columns * blocks.column_stride + j % blocks.columns * column_stride
                                        : j * column_stride;
        return row + column;
    }
    [[nodiscard]] double at(std::int64_t i, std::int64_t j) const { return value(offset(i, j)); }
    [[nodiscard]] double value(std::int64_t at) const;
    template <class T>
    T& word(std::int64_t at) {
        return reinterpret_cast<T*>(bytes.data())[at];
    }
    template <class T>
    [[nodiscard]] T word(std::int64_t at) const {
        return reinterpret_cast<const T*>(bytes.data())[at];
    }
    void allocate() {
        const std::int64_t last = rows > 0 && columns > 0 ? offset(rows - 1, columns - 1) : 0;
        std::int64_t highest = last;
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j) highest = std::max(highest, offset(i, j));
        bytes.assign(static_cast<std::size_t>(highest + 1) * bits_of(type) / 8 + 8, 0);
    }
};

double small_float(unsigned bits, int exponent_bits, int fraction_bits) {
    const unsigned fraction = bits & ((1u << fraction_bits) - 1);
    const int exponent = static_cast<int>((bits >> fraction_bits) & ((1u << exponent_bits) - 1));
    const int bias = exponent_bits == 1 ? 1 : (1 << (exponent_bits - 1)) - 1;
    const double magnitude = exponent == 0
                                 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                                 : std::ldexp(fraction + (1u << fraction_bits), exponent - bias - fraction_bits);
    return (bits >> (exponent_bits + fraction_bits)) & 1 ? -magnitude : magnitude;
}

double Stored::value(std::int64_t at) const {
    const auto nibble = [&] { return bytes[static_cast<std::size_t>(at / 2)] >> (at % 2 * 4) & 15u; };
    switch (type) {
        case CANOPY_ELEMENT_FLOAT:
            return word<float>(at);
        case CANOPY_ELEMENT_HALF:
            return half_to_float(word<std::uint16_t>(at));
        case CANOPY_ELEMENT_BFLOAT16:
            return bfloat16_to_float(word<std::uint16_t>(at));
        case CANOPY_ELEMENT_INT8:
            return word<std::int8_t>(at);
        case CANOPY_ELEMENT_UINT8:
            return word<std::uint8_t>(at);
        case CANOPY_ELEMENT_INT32:
            return word<std::int32_t>(at);
        case CANOPY_ELEMENT_INT4:
            return nibble() < 8 ? nibble() : nibble() - 16.0;
        case CANOPY_ELEMENT_FLOAT8_E4M3:
            return small_float(word<std::uint8_t>(at), 4, 3);
        case CANOPY_ELEMENT_FLOAT8_E5M2:
            return small_float(word<std::uint8_t>(at), 5, 2);
        case CANOPY_ELEMENT_FLOAT4_E2M1:
            return small_float(nibble(), 2, 1);
        case CANOPY_ELEMENT_FLOAT4_E1M2:
            return small_float(nibble(), 1, 2);
        default:
            return 0;
    }
}

class Generator {
public:
    explicit Generator(unsigned seed) : random_(seed) {}
    int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
    bool coin() { return below(2) == 0; }
    template <class T>
    T one_of(std::initializer_list<T> values) {
        return values.begin()[below(static_cast<int>(values.size()))];
    }

    void fill(Stored& matrix) {
        matrix.allocate();
        const std::size_t count = matrix.bytes.size() * 8 / bits_of(matrix.type);
        for (std::size_t i = 0; i < count; ++i) fill_one(matrix, static_cast<std::int64_t>(i));
    }

    // Plain, transposed, or in blocks of 16 rows by 32 bytes, with gaps here and there.
    void shape(Stored& matrix, std::int64_t rows, std::int64_t columns) {
        matrix.rows = rows;
        matrix.columns = columns;
        const std::int64_t gap = coin() ? 0 : below(5);
        switch (below(4)) {
            case 0:
                matrix.row_stride = 1;
                matrix.column_stride = rows + gap;
                break;
            case 1: {
                const auto block = static_cast<std::uint32_t>(256 / bits_of(matrix.type));
                const std::int64_t padded = (rows + 15) / 16 * 16;
                matrix.row_stride = block;
                matrix.column_stride = 1;
                matrix.blocks = {0, block, 0, padded * block};
                break;
            }
            case 2: {
                const auto block = static_cast<std::uint32_t>(256 / bits_of(matrix.type));
                const std::int64_t across = (columns + block - 1) / block;
                matrix.row_stride = block;
                matrix.column_stride = 1;
                matrix.blocks = {16, block, across * 16 * block, 16 * static_cast<std::int64_t>(block)};
                break;
            }
            default:
                matrix.row_stride = columns + gap;
                matrix.column_stride = 1;
                break;
        }
    }

private:
    void fill_one(Stored& matrix, std::int64_t at) {
        const float value = std::uniform_real_distribution<float>(-2, 2)(random_);
        switch (matrix.type) {
            case CANOPY_ELEMENT_FLOAT:
                matrix.word<float>(at) = value;
                break;
            case CANOPY_ELEMENT_HALF:
                matrix.word<std::uint16_t>(at) = float_to_half(value);
                break;
            case CANOPY_ELEMENT_BFLOAT16:
                matrix.word<std::uint16_t>(at) = float_to_bfloat16(value);
                break;
            case CANOPY_ELEMENT_INT32:
                matrix.word<std::int32_t>(at) = below(2001) - 1000;
                break;
            case CANOPY_ELEMENT_FLOAT8_E4M3:
            case CANOPY_ELEMENT_FLOAT8_E5M2:
                matrix.word<std::uint8_t>(at) = static_cast<std::uint8_t>(below(0x40) | below(2) << 7);
                break;
            case CANOPY_ELEMENT_INT4:
            case CANOPY_ELEMENT_FLOAT4_E2M1:
            case CANOPY_ELEMENT_FLOAT4_E1M2:
                matrix.bytes[static_cast<std::size_t>(at / 2)] = static_cast<unsigned char>(below(256));
                break;
            default:
                matrix.word<std::uint8_t>(at) = static_cast<std::uint8_t>(below(256));
                break;
        }
    }

    std::mt19937 random_;
};

CanopyProduct describe(const Stored& a, const Stored& b, Stored& c) {
    CanopyProduct product{};
    product.a = a.bytes.data();
    product.b = b.bytes.data();
    product.c = c.bytes.data();
    product.a_type = a.type;
    product.b_type = b.type;
    product.c_type = c.type;
    product.m = c.rows;
    product.n = c.columns;
    product.k = a.columns;
    product.a_row_stride = a.row_stride;
    product.a_column_stride = a.column_stride;
    product.b_row_stride = b.row_stride;
    product.b_column_stride = b.column_stride;
    product.c_row_stride = c.row_stride;
    product.c_column_stride = c.column_stride;
    product.a_blocks = a.blocks;
    product.b_blocks = b.blocks;
    product.c_blocks = c.blocks;
    return product;
}

// The largest difference that rounding can explain, relative to the magnitudes of the terms.
double tolerance(std::uint32_t type, double magnitude, std::int64_t depth) {
    const double sum_error = magnitude * static_cast<double>(depth + 2) * 0x1p-24 + 1e-30;
    if (type == CANOPY_ELEMENT_HALF) return sum_error + magnitude * 0x1p-11 + 0x1p-24;
    if (type == CANOPY_ELEMENT_BFLOAT16) return sum_error + magnitude * 0x1p-8;
    return type == CANOPY_ELEMENT_INT32 ? 0 : sum_error;
}

std::vector<double> doubles(const Stored& matrix, bool transposed) {
    std::vector<double> all;
    for (std::int64_t i = 0; i < (transposed ? matrix.columns : matrix.rows); ++i)
        for (std::int64_t j = 0; j < (transposed ? matrix.rows : matrix.columns); ++j)
            all.push_back(transposed ? matrix.at(j, i) : matrix.at(i, j));
    return all;
}

// The sum of products of two rows, and of their magnitudes. Not sanitized: millions of terms, with nothing to find.
__attribute__((no_sanitize("address", "thread", "undefined"))) void add_terms(const double* left, const double* right,
                                                                              std::int64_t count, double& sum,
                                                                              double& magnitude) {
    double terms = 0, magnitudes = 0;
    for (std::int64_t k = 0; k < count; ++k) {
        const double term = left[k] * right[k];
        terms += term;
        magnitudes += term < 0 ? -term : term;
    }
    sum += terms;
    magnitude += magnitudes;
}

void check(const CanopyProduct& product, const Stored& a, const Stored& b, const Stored* bias, const Stored& before,
           const Stored& after, const std::string& what) {
    const std::vector<double> left = doubles(a, false), right = doubles(b, true);
    for (std::int64_t i = 0; i < product.m; ++i)
        for (std::int64_t j = 0; j < product.n; ++j) {
            double sum = product.accumulate ? before.at(i, j) : 0;
            double magnitude = std::fabs(sum);
            if (bias) sum += bias->value(j), magnitude += std::fabs(bias->value(j));
            add_terms(left.data() + i * product.k, right.data() + j * product.k, product.k, sum, magnitude);
            ASSERT_NEAR(after.at(i, j), sum, tolerance(product.c_type, magnitude, product.k))
                << what << " at row " << i << ", column " << j;
        }
}

// Bytes of C outside any element stay unchanged.
void check_gaps(const Stored& before, const Stored& after) {
    std::vector<bool> written(after.bytes.size());
    const std::size_t size = bits_of(after.type) / 8;
    for (std::int64_t i = 0; i < after.rows; ++i)
        for (std::int64_t j = 0; j < after.columns; ++j)
            for (std::size_t byte = 0; byte < size; ++byte)
                written[static_cast<std::size_t>(after.offset(i, j)) * size + byte] = true;
    for (std::size_t i = 0; i < written.size(); ++i)
        if (!written[i]) {
            ASSERT_EQ(before.bytes[i], after.bytes[i]) << "byte " << i << " lies between the elements";
        }
}

void one_random_product(unsigned seed, int level, std::int64_t m, std::int64_t n, std::int64_t k) {
    Generator generator(seed);
    const bool integers = generator.below(3) == 0;
    Stored a, b, c, bias;
    if (integers) {
        a.type = generator.one_of<std::uint32_t>({CANOPY_ELEMENT_INT8, CANOPY_ELEMENT_UINT8, CANOPY_ELEMENT_INT4});
        b.type = generator.one_of<std::uint32_t>({CANOPY_ELEMENT_INT8, CANOPY_ELEMENT_UINT8, CANOPY_ELEMENT_INT4});
        c.type = CANOPY_ELEMENT_INT32;
        bias.type = CANOPY_ELEMENT_INT32;
    } else {
        const auto any = {CANOPY_ELEMENT_FLOAT,       CANOPY_ELEMENT_HALF,        CANOPY_ELEMENT_BFLOAT16,
                          CANOPY_ELEMENT_FLOAT8_E4M3, CANOPY_ELEMENT_FLOAT8_E5M2, CANOPY_ELEMENT_FLOAT4_E2M1,
                          CANOPY_ELEMENT_FLOAT4_E1M2};
        a.type = static_cast<std::uint32_t>(generator.one_of(any));
        b.type = generator.coin() ? a.type : static_cast<std::uint32_t>(generator.one_of(any));
        const auto wide = {CANOPY_ELEMENT_FLOAT, CANOPY_ELEMENT_HALF, CANOPY_ELEMENT_BFLOAT16};
        c.type = static_cast<std::uint32_t>(generator.one_of(wide));
        bias.type = static_cast<std::uint32_t>(generator.one_of(wide));
    }
    generator.shape(a, m, k);
    generator.shape(b, k, n);
    generator.shape(c, m, n);
    bias.rows = 1, bias.columns = n, bias.column_stride = 1;
    for (Stored* matrix : {&a, &b, &c, &bias}) generator.fill(*matrix);
    const Stored before = c;
    CanopyProduct product = describe(a, b, c);
    product.accumulate = generator.coin();
    if (generator.coin()) product.bias = bias.bytes.data(), product.bias_type = bias.type;
    multiply_at_level(product, level);
    check(product, a, b, product.bias ? &bias : nullptr, before, c,
          "level " + std::to_string(level) + ", seed " + std::to_string(seed));
    check_gaps(before, c);
}

TEST(Product, MatchesSumsInDoubleForRandomShapesTypesAndLayouts) {
    for (const int level : levels()) {
        Generator shapes(7);
        for (unsigned seed = 0; seed < 120 && !testing::Test::HasFailure(); ++seed)
            one_random_product(seed, level, 1 + shapes.below(70), 1 + shapes.below(90), 1 + shapes.below(110));
    }
}

TEST(Product, MatchesWhenEveryDimensionTakesSeveralBlocks) {
    for (const int level : levels())
        for (unsigned seed = 200; seed < 206 && !testing::Test::HasFailure(); ++seed)
            one_random_product(seed, level, seed % 2 ? 1001 : 37, seed % 2 ? 41 : 611, 797);
}

TEST(Product, OfNoTermsIsTheBiasOrWhatWasThere) {
    for (const int level : levels()) {
        Generator generator(1);
        Stored a, b, c, bias;
        for (Stored* matrix : {&a, &b, &c, &bias}) matrix->type = CANOPY_ELEMENT_FLOAT;
        a.rows = 5, b.columns = 7, c.rows = 5, c.columns = 7, c.row_stride = 7, c.column_stride = 1;
        bias.rows = 1, bias.columns = 7, bias.column_stride = 1;
        for (Stored* matrix : {&a, &b, &c, &bias}) generator.fill(*matrix);
        const Stored before = c;
        CanopyProduct product = describe(a, b, c);
        product.bias = bias.bytes.data();
        product.accumulate = 1;
        multiply_at_level(product, level);
        check(product, a, b, &bias, before, c, "accumulated");
        product.accumulate = 0;
        multiply_at_level(product, level);
        check(product, a, b, &bias, before, c, "bias only");
    }
}

TEST(Product, KeepsSpecialValuesInTheirRowsAndColumns) {
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const int level : levels())
        for (const std::uint32_t type : {std::uint32_t{CANOPY_ELEMENT_FLOAT}, std::uint32_t{CANOPY_ELEMENT_HALF},
                                         std::uint32_t{CANOPY_ELEMENT_BFLOAT16}}) {
            Stored a, b, c;
            a.type = b.type = type;
            c.type = CANOPY_ELEMENT_FLOAT;
            a.rows = c.rows = 13, a.columns = b.rows = 11, b.columns = c.columns = 35;
            for (Stored* matrix : {&a, &b, &c}) matrix->row_stride = matrix->columns, matrix->column_stride = 1;
            for (Stored* matrix : {&a, &b, &c}) matrix->allocate();
            const auto set = [&](Stored& matrix, std::int64_t i, std::int64_t j, float value) {
                const std::int64_t at = matrix.offset(i, j);
                if (type == CANOPY_ELEMENT_FLOAT) matrix.word<float>(at) = value;
                if (type == CANOPY_ELEMENT_HALF) matrix.word<std::uint16_t>(at) = float_to_half(value);
                if (type == CANOPY_ELEMENT_BFLOAT16) matrix.word<std::uint16_t>(at) = float_to_bfloat16(value);
            };
            for (std::int64_t k = 0; k < 11; ++k)
                for (std::int64_t j = 0; j < 35; ++j) set(b, k, j, 1);
            set(a, 12, 3, infinity);
            set(a, 0, 0, nan);
            set(a, 5, 1, 0x1p-20f);  // a denormal half
            multiply_at_level(describe(a, b, c), level);
            for (std::int64_t j = 0; j < 35; ++j) {
                EXPECT_EQ(c.word<float>(c.offset(12, j)), infinity);
                EXPECT_TRUE(std::isnan(c.word<float>(c.offset(0, j))));
                EXPECT_EQ(c.word<float>(c.offset(5, j)), 0x1p-20f);
                EXPECT_EQ(c.word<float>(c.offset(7, j)), 0.0f);
            }
        }
}

TEST(Product, RoundsHalfResultsOnceAndOverflowsToInfinityOrTheLargestNumber) {
    for (const int level : levels()) {
        Stored a, b, c;
        a.type = b.type = CANOPY_ELEMENT_FLOAT;
        c.type = CANOPY_ELEMENT_HALF;
        a.rows = c.rows = 9, a.columns = b.rows = 1, b.columns = c.columns = 1;
        for (Stored* matrix : {&a, &b, &c}) matrix->row_stride = matrix->columns, matrix->column_stride = 1;
        for (Stored* matrix : {&a, &b, &c}) matrix->allocate();
        const float values[9] = {65504.0f,
                                 65519.9f,
                                 65520.0f,
                                 1e30f,
                                 -1e30f,
                                 1.0f + 0x1p-11f,
                                 1.0f + 3 * 0x1p-11f,
                                 0x1p-25f,
                                 std::numeric_limits<float>::quiet_NaN()};
        for (int i = 0; i < 9; ++i) a.word<float>(i) = values[i];
        b.word<float>(0) = 1;
        multiply_at_level(describe(a, b, c), level);
        for (int i = 0; i < 8; ++i)
            EXPECT_EQ(c.word<std::uint16_t>(i), float_to_half(values[i])) << values[i] << " at level " << level;
        EXPECT_TRUE(std::isnan(half_to_float(c.word<std::uint16_t>(8))));
        CanopyProduct held = describe(a, b, c);
        held.saturate = 1;
        multiply_at_level(held, level);
        EXPECT_EQ(half_to_float(c.word<std::uint16_t>(3)), 65504.0f);
        EXPECT_EQ(half_to_float(c.word<std::uint16_t>(4)), -65504.0f);
        EXPECT_TRUE(std::isnan(half_to_float(c.word<std::uint16_t>(8))));
    }
}

TEST(Product, OfIntegersWrapsAroundAt32Bits) {
    for (const int level : levels()) {
        Stored a, b, c;
        a.type = b.type = CANOPY_ELEMENT_INT8;
        c.type = CANOPY_ELEMENT_INT32;
        a.rows = c.rows = 1, a.columns = b.rows = 3, b.columns = c.columns = 1;
        for (Stored* matrix : {&a, &b, &c}) matrix->row_stride = matrix->columns, matrix->column_stride = 1;
        for (Stored* matrix : {&a, &b, &c}) matrix->allocate();
        for (int i = 0; i < 3; ++i) a.word<std::int8_t>(i) = -128, b.word<std::int8_t>(i) = -128;
        c.word<std::int32_t>(0) = std::numeric_limits<std::int32_t>::max();
        CanopyProduct product = describe(a, b, c);
        product.accumulate = 1;
        multiply_at_level(product, level);
        EXPECT_EQ(c.word<std::int32_t>(0), static_cast<std::int32_t>(0x7FFFFFFFu + 3 * 16384u));
    }
}

TEST(Product, MultipliesGroupsOf32ByTheirScales) {
    for (const int level : levels()) {
        Generator generator(3);
        Stored a, b, c;
        a.type = CANOPY_ELEMENT_FLOAT8_E4M3, b.type = CANOPY_ELEMENT_FLOAT4_E2M1, c.type = CANOPY_ELEMENT_FLOAT;
        a.rows = c.rows = 21, a.columns = b.rows = 128, b.columns = c.columns = 40;
        for (Stored* matrix : {&a, &b, &c}) matrix->row_stride = matrix->columns, matrix->column_stride = 1;
        for (Stored* matrix : {&a, &b, &c}) generator.fill(*matrix);
        std::vector<std::uint8_t> left(21 * 4), right(4 * 40);
        for (auto& byte : left) byte = static_cast<std::uint8_t>(120 + generator.below(15));
        for (auto& byte : right) byte = static_cast<std::uint8_t>(120 + generator.below(15));
        CanopyProduct product = describe(a, b, c);
        product.a_scale = {left.data(), 4, 2, 1};  // row, pair of groups, group
        product.b_scale = {right.data(), 2, 80, 1};
        multiply_at_level(product, level);
        for (std::int64_t i = 0; i < 21; ++i)
            for (std::int64_t j = 0; j < 40; ++j) {
                double sum = 0, magnitude = 0;
                for (std::int64_t k = 0; k < 128; ++k) {
                    const double scale =
                        std::ldexp(1.0, left[static_cast<std::size_t>(i * 4 + k / 32)] - 127) *
                        std::ldexp(1.0, right[static_cast<std::size_t>(k / 64 * 80 + j * 2 + k / 32 % 2)] - 127);
                    const double term = a.at(i, k) * b.at(k, j) * scale;
                    sum += term, magnitude += std::fabs(term);
                }
                ASSERT_NEAR(c.at(i, j), sum, magnitude * 1e-5);
            }
    }
}

}  // namespace
}  // namespace canopy
