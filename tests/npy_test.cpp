#include "io/npy.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "ngf/error.hpp"
#include "tests/binary_bytes.hpp"
#include "tests/support.hpp"

namespace {

using ngf::Error;
using ngf::Matrix;
using ngf::io::AtomicFile;
using ngf::io::Input;
using ngf::io::npy_header;
using ngf::io::NpyArray;
using ngf::test::error_of;
using ngf::test::npy;
using ngf::test::npy_with_header;
using ngf::test::raw;
using testing::ElementsAre;
using testing::HasSubstr;

Matrix read(const std::string& bytes) { return read_npy_matrix(Input("x.npy", bytes)); }

NpyArray array(const std::string& bytes) { return {bytes, "x.npy"}; }

std::string refusal(const std::string& bytes) {
  return error_of<Error>([&] { read(bytes); });
}

Matrix matrix(Eigen::Index rows, Eigen::Index cols, std::initializer_list<double> values) {
  Matrix result(rows, cols);
  std::copy(values.begin(), values.end(), result.data());
  return result;
}

template <typename T>
void expect_reads_as(const std::string& dtype, const std::vector<T>& values) {
  SCOPED_TRACE(dtype);
  const Matrix read_back = read(npy(dtype, "(2, 2)", raw(values)));
  ASSERT_EQ(read_back.size(), 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(read_back.data()[i], static_cast<double>(values[static_cast<std::size_t>(i)]));
  }
}

TEST(Npy, ReadsEveryKindOfNumber) {
  expect_reads_as<std::int8_t>("|i1", {-128, 0, 1, 127});
  expect_reads_as<std::uint8_t>("|u1", {0, 1, 128, 255});
  expect_reads_as<std::int16_t>("<i2", {-32768, 0, 1, 32767});
  expect_reads_as<std::uint16_t>("<u2", {0, 1, 2, 65535});
  expect_reads_as<std::int32_t>("<i4", {-2147483647, 0, 1, 2147483647});
  expect_reads_as<std::uint32_t>("<u4", {0, 1, 2, 4294967295});
  expect_reads_as<std::int64_t>("<i8", {-5, 0, 1, std::int64_t{1} << 40});
  expect_reads_as<std::uint64_t>("<u8", {0, 1, 2, std::uint64_t{1} << 63});
  expect_reads_as<float>("<f4", {-1.5F, 0, 1e-30F, 3e30F});
  expect_reads_as<double>("<f8", {-1.5, 0, 1e-300, 3e300});
  EXPECT_EQ(read(npy("|b1", "(3,)", std::string("\0\1\7", 3))), matrix(3, 1, {0, 1, 1}));
  // 1.5, -2 and the smallest half.
  EXPECT_EQ(read(npy("<f2", "(3,)", raw<std::uint16_t>({0x3e00, 0xc000, 0x0001}))),
            matrix(3, 1, {1.5, -2, std::ldexp(1, -24)}));
}

TEST(Npy, ReadsBigEndian) {
  EXPECT_EQ(read(npy(">i4", "(2,)", std::string("\0\0\1\0\xff\xff\xff\xfe", 8))),
            matrix(2, 1, {256, -2}));
  EXPECT_EQ(read(npy(">f8", "(1,)", std::string("\x3f\xf8\0\0\0\0\0\0", 8))), matrix(1, 1, {1.5}));
}

TEST(Npy, KeepsNonFiniteNumbers) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Matrix read_back = read(npy("<f8", "(2,)", raw<double>({nan, -infinity})));
  EXPECT_TRUE(std::isnan(read_back(0, 0)));
  EXPECT_EQ(read_back(1, 0), -infinity);
}

TEST(Npy, HonoursFortranOrder) {
  const Matrix expected = matrix(2, 3, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(read(npy("<f8", "(2, 3)", raw<double>({1, 2, 3, 4, 5, 6}))), expected);
  EXPECT_EQ(read(npy("<f8", "(2, 3)", raw<double>({1, 4, 2, 5, 3, 6}), true)), expected);
  EXPECT_EQ(read(npy("|u1", "(2, 3)", raw<std::uint8_t>({1, 4, 2, 5, 3, 6}), true)), expected);
  EXPECT_EQ(read(npy("<f8", "(3,)", raw<double>({1, 2, 3}), true)), matrix(3, 1, {1, 2, 3}));
}

TEST(Npy, ReadsAllVersionsAndSpellingsOfTheHeader) {
  const std::string data = raw<float>({1, 2});
  const Matrix expected = matrix(2, 1, {1, 2});
  for (const char version : {'\1', '\2', '\3'}) {
    EXPECT_EQ(
        read(npy_with_header("{'descr':'<f4','fortran_order':False,'shape':(2,)}", data, version)),
        expected);
  }
  EXPECT_EQ(read(npy_with_header(
                R"(  {"shape": (2L, 1L), "fortran_order": True , "descr": "<f4", }   )", data)),
            expected);
  EXPECT_EQ(read(npy("=f4", "(2,)", data)), expected);
  EXPECT_EQ(read(npy("f4", "(2,)", data)), expected);
}

TEST(Npy, ReadsEmptyArrays) {
  EXPECT_EQ(read(npy("<f8", "(0,)", "")).rows(), 0);
  EXPECT_EQ(read(npy("<f8", "(0, 5)", "")).cols(), 5);
  EXPECT_EQ(read(npy("<f4", "(5, 0)", "", true)).rows(), 5);
  // No loop over the size that takes no bytes.
  EXPECT_EQ(read(npy("<f4", "(0, 1000000000000000000)", "", true)).rows(), 0);
}

TEST(Npy, ConvertsToWhatIsAskedFor) {
  const NpyArray numbers = array(npy("<i8", "(3,)", raw<std::int64_t>({0, 7, 1})));
  EXPECT_THAT(numbers.to_int64s(), ElementsAre(0, 7, 1));
  EXPECT_THAT(numbers.to_floats(), ElementsAre(0, 7, 1));
  EXPECT_THAT(numbers.to_indices(8), ElementsAre(0, 7, 1));
  EXPECT_THAT(error_of<Error>([&] { numbers.to_indices(7); }), HasSubstr("entry 1 is 7"));
  EXPECT_THAT(error_of<Error>([&] { numbers.to_bools(); }), HasSubstr("entry 1 is 7"));
  EXPECT_THAT(error_of<Error>([&] { numbers.to_text(); }), HasSubstr("text is expected"));
  EXPECT_THAT(array(npy("|b1", "(2,)", std::string("\0\1", 2))).to_bools(), ElementsAre(0, 1));
  const NpyArray negative = array(npy("<i4", "(2,)", raw<std::int32_t>({3, -4})));
  EXPECT_THAT(error_of<Error>([&] { negative.to_indices(9); }), HasSubstr("entry 1 is -4"));
  const NpyArray huge = array(npy("<u8", "(1,)", raw<std::uint64_t>({~std::uint64_t{0}})));
  EXPECT_THAT(error_of<Error>([&] { huge.to_int64s(); }), HasSubstr("out of range"));
  const NpyArray fractions = array(npy("<f8", "(1,)", raw<double>({0.5})));
  EXPECT_THAT(error_of<Error>([&] { fractions.to_int64s(); }), HasSubstr("whole numbers"));
}

TEST(Npy, ReadsTexts) {
  EXPECT_EQ(array(npy("|S5", "()", std::string("csr\0\0", 5))).to_text(), "csr");
  EXPECT_EQ(array(npy("<U3", "()", std::string("c\0\0\0s\0\0\0r\0\0\0", 12))).to_text(), "csr");
  EXPECT_EQ(array(npy(">U2", "()", std::string("\0\0\0o\0\0\0k", 8))).to_text(), "ok");
  EXPECT_THAT(refusal(npy("<U1", "(1,)", "abcd")), HasSubstr("numbers are expected"));
}

TEST(Npy, RefusesWhatItCannotRead) {
  EXPECT_THAT(refusal(""), HasSubstr("not an NPY file"));
  EXPECT_THAT(refusal("hello, world"), HasSubstr("not an NPY file"));
  EXPECT_THAT(refusal(npy("|O", "(1,)", "12345678")), HasSubstr("dtype object"));
  EXPECT_THAT(refusal(npy("<c16", "(1,)", std::string(16, '\0'))), HasSubstr("'<c16'"));
  EXPECT_THAT(refusal(npy("<f3", "(1,)", "123")), HasSubstr("'<f3'"));
  EXPECT_THAT(refusal(npy("<", "(1,)", "123")), HasSubstr("'<'"));
  EXPECT_THAT(refusal(npy("", "(1,)", "123")), HasSubstr("''"));
  EXPECT_THAT(refusal(npy("<f8", "()", raw<double>({1}))), HasSubstr("0 dimensions"));
  EXPECT_THAT(refusal(npy("<f8", "(1, 1, 1)", raw<double>({1}))), HasSubstr("3 dimensions"));
  EXPECT_THAT(error_of<Error>([] { array(npy("<f4", "(1, 1, 1)", "1234", true)).to_doubles(); }),
              HasSubstr("Fortran order"));
  EXPECT_THAT(refusal(npy_with_header("{'descr': [('a', '<f8')], }", "")), HasSubstr("records"));
  EXPECT_THAT(refusal(npy_with_header("{'descr': '<f8'}", "")), HasSubstr("lacks"));
  EXPECT_THAT(refusal(npy_with_header("{'descr': '<f8', 'descr': '<f8'}", "")),
              HasSubstr("'descr'"));
  EXPECT_THAT(refusal(npy_with_header("{'sesame': 1}", "")), HasSubstr("'sesame'"));
  EXPECT_THAT(refusal(npy_with_header("{}", "", 4)), HasSubstr("version 4.0"));
  for (const std::string broken :
       {"", "{", "{'", "{'descr", "{descr: '<f8'}", "{'descr' '<f8'}", "{'descr': <f8}",
        "{'descr': '<f8' 'shape': ()}", "{'fortran_order': 0}", "{'shape': 3}", "{'shape': (3 4)}",
        "{'shape': (-3,)}", "{'shape': (3,", "{'shape': (99999999999999999999,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (0,), } more"}) {
    EXPECT_THAT(refusal(npy_with_header(broken, "")), HasSubstr("NPY header")) << broken;
  }
}

TEST(Npy, NeverTrustsItsSizes) {
  EXPECT_THAT(refusal(npy("<f8", "(1000000000000000000,)", "12345678")),
              HasSubstr("promises 8000000000000000000 bytes"));
  EXPECT_THAT(refusal(npy("<f8", "(4294967296, 4294967296)", "")), HasSubstr("can be counted"));
  EXPECT_THAT(refusal(npy("<f8", "(0, 4294967296, 4294967296)", "")), HasSubstr("can be counted"));
  EXPECT_THAT(refusal(npy("<f8", "(2,)", "12345678")), HasSubstr("but 8 follow"));
  EXPECT_THAT(refusal(npy("<f8", "(1,)", "123456789")), HasSubstr("but 9 follow"));
  EXPECT_THAT(refusal("\x93NUMPY\2" + std::string(1, '\0') + "\xff\xff\xff\xff"),
              HasSubstr("4294967295 bytes"));
}

TEST(Npy, RefusesEveryTruncation) {
  const std::string whole = npy("<f8", "(2, 2)", raw<double>({1, 2, 3, 4}));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(read(whole.substr(0, length)), Error) << length;
  }
}

TEST(Npy, WritesWhatItReads) {
  for (const auto& [rows, cols] : {std::pair{0, 0}, {0, 3}, {1, 1}, {3, 1}, {7, 5}}) {
    Matrix values = Matrix::Random(rows, cols);
    const auto path = ngf::test::temp_file("matrix.npy");
    AtomicFile file(path);
    write_npy(file, values);
    file.commit();
    EXPECT_EQ(read_npy_matrix(Input(path)), values);
  }
}

TEST(Npy, ReadsBytesAndWordsBehindOurHeader) {
  const std::array<std::uint64_t, 2> shape{2, 2};
  const std::string bytes = npy_header("|u1", shape) + raw<std::uint8_t>({0, 1, 255, 3});
  EXPECT_EQ(read_npy_matrix(Input("hops.npy", bytes)), matrix(2, 2, {0, 1, 255, 3}));
  const std::string words = npy_header("<u2", shape) + raw<std::uint16_t>({0, 1, 65535, 3});
  EXPECT_EQ(read_npy_matrix(Input("hops.npy", words)), matrix(2, 2, {0, 1, 65535, 3}));
}

TEST(Npy, AlignsTheData) {
  for (const std::uint64_t size : {0ULL, 9ULL, 10ULL, 1000000000000ULL}) {
    for (std::size_t dimensions = 0; dimensions < 8; ++dimensions) {
      const std::vector<std::uint64_t> shape(dimensions, size);
      EXPECT_EQ(ngf::io::npy_header("<f8", shape).size() % 64, 0U);
    }
  }
}

}  // namespace
