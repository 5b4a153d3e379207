#include "io/tensors.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "ngf/error.hpp"
#include "tests/binary_bytes.hpp"
#include "tests/support.hpp"

namespace {

using ngf::Error;
using ngf::Tensor;
using ngf::TensorFile;
using ngf::write_tensors;
using ngf::io::Input;
using ngf::test::error_of;
using ngf::test::joined;
using ngf::test::number;
using ngf::test::raw;
using ngf::test::safetensors;
using ngf::test::temp_file;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TensorFile read(const std::string& bytes) {
  return ngf::io::read_tensors(Input("m.safetensors", bytes));
}

std::string refusal(const std::string& bytes) {
  return error_of<Error>([&] { read(bytes); });
}

/// What a header says about a tensor.
std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return joined({"\"", name, R"(":{"dtype":")", dtype, R"(","shape":)", shape,
                 R"(,"data_offsets":)", offsets, "}"});
}

/// A file with one tensor, `a`.
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets,
                const std::string& data) {
  return safetensors(joined({"{", entry("a", dtype, shape, offsets), "}"}), data);
}

/// A file with the tensors `a` and `b` of float32.
std::string two(const std::string& shape_a, const std::string& offsets_a,
                const std::string& shape_b, const std::string& offsets_b, const std::string& data) {
  return safetensors(joined({"{", entry("a", "F32", shape_a, offsets_a), ",",
                             entry("b", "F32", shape_b, offsets_b), "}"}),
                     data);
}

std::string bytes_of(const std::filesystem::path& path) { return Input(path).read_all(); }

TEST(Tensors, WritesWhatItReads) {
  const TensorFile file{
      {{"settings", R"({"hops": 2, "name": "é\n"})"}, {"", ""}},
      {{"a", {2, 3}, {1, -2, 3e30F, 1e-40F, std::numeric_limits<float>::infinity(), 0}},
       {"b.c", {}, {7}},
       {"empty", {0, 5}, {}},
       {"\"\\\n", {1}, {0.5F}}}};
  const auto path = temp_file("model.safetensors");
  write_tensors(path, file);
  TensorFile back = ngf::read_tensors(path);
  EXPECT_EQ(back.metadata, file.metadata);
  const auto by_name = [](const Tensor& a, const Tensor& b) { return a.name < b.name; };
  std::vector<Tensor> expected = file.tensors;
  std::sort(expected.begin(), expected.end(), by_name);
  std::sort(back.tensors.begin(), back.tensors.end(), by_name);
  EXPECT_EQ(back.tensors, expected);

  write_tensors(path, {});
  EXPECT_EQ(ngf::read_tensors(path), TensorFile());
}

TEST(Tensors, TheSameContentIsTheSameBytes) {
  const auto path = temp_file("model.safetensors");
  const Tensor a{"a", {2}, {1, 2}};
  const Tensor b{"b", {1}, {3}};
  write_tensors(path, {{{"k", "v"}}, {a, b}});
  const std::string bytes = bytes_of(path);
  write_tensors(path, {{{"k", "v"}}, {b, a}});
  EXPECT_EQ(bytes_of(path), bytes);
  const std::string sum = ngf::io::checksum_of({{{"k", "v"}}, {a, b}});
  std::string header = R"({"__metadata__":{"k":"v","ngf-sha256":")" + sum + R"("},)" +
                       entry("a", "F32", "[2]", "[0,8]") + "," +
                       entry("b", "F32", "[1]", "[8,12]") + "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(bytes, safetensors(header, raw<float>({1, 2, 3})));
}

TEST(Tensors, NoticesEveryFlippedBit) {
  const auto path = temp_file("model.safetensors");
  const TensorFile file{{{"settings", R"({"hops": 2})"}},
                        {{"a", {2, 1}, {1, -2}}, {"b", {1}, {0.5F}}}};
  write_tensors(path, file);
  const std::string whole = bytes_of(path);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      const std::string refused = error_of<Error>([&] {
        TensorFile found = read(damaged);
        // The key of the checksum may be what is damaged.
        if (found.metadata.size() > 1) found.metadata = {{"settings", found.metadata["settings"]}};
        EXPECT_EQ(found, file) << i << ", bit " << bit;
      });
      if (!refused.empty()) {
        EXPECT_THAT(refused, testing::StartsWith("m.safetensors: ")) << i << ", bit " << bit;
      }
    }
  }
}

TEST(Tensors, ReadsConvertedFilesThatKeepTheChecksum) {
  const std::string data = raw<double>({1, 2});
  const std::string header = R"({"__metadata__":{"ngf-sha256":"of other numbers"},)";
  const std::string of_double = header + entry("a", "F64", "[2]", "[0,16]") + "}";
  EXPECT_THAT(read(safetensors(of_double, data)).tensors.at(0).values, ElementsAre(1, 2));
  const std::string of_float = header + entry("a", "F32", "[4]", "[0,16]") + "}";
  EXPECT_THAT(refusal(safetensors(of_float, data)), HasSubstr("does not match its checksum"));
}

TEST(Tensors, AlignsTheNumbers) {
  const auto path = temp_file("model.safetensors");
  for (std::size_t length = 1; length < 10; ++length) {
    write_tensors(path, {{}, {{std::string(length, 'x'), {1}, {1}}}});
    EXPECT_EQ((bytes_of(path).size() - sizeof(float)) % 8, 0U);
  }
}

TEST(Tensors, ReadsEveryKindOfFloat) {
  const auto values = [](const std::string& bytes) { return read(bytes).tensors.at(0).values; };
  EXPECT_THAT(values(one("F32", "[2]", "[0,8]", raw<float>({1.5F, -2}))), ElementsAre(1.5F, -2));
  EXPECT_THAT(values(one("F64", "[2]", "[0,16]", raw<double>({0.1, 1e300}))),
              ElementsAre(0.1F, std::numeric_limits<float>::infinity()));
  // 1.5, -2 and the smallest half.
  EXPECT_THAT(values(one("F16", "[3]", "[0,6]", raw<std::uint16_t>({0x3e00, 0xc000, 1}))),
              ElementsAre(1.5F, -2, std::ldexp(1.0F, -24)));
  EXPECT_THAT(values(one("BF16", "[2]", "[0,4]", raw<std::uint16_t>({0x3fc0, 0xc000}))),
              ElementsAre(1.5F, -2));
  EXPECT_TRUE(std::isnan(values(one("BF16", "[]", "[0,2]", raw<std::uint16_t>({0x7fc0})))[0]));
}

TEST(Tensors, KeepsTheOrderOfTheData) {
  const TensorFile file = read(two("[1]", "[4,8]", "[1]", "[0,4]", raw<float>({1, 2})));
  ASSERT_EQ(file.tensors.size(), 2U);
  EXPECT_EQ(file.tensors[0], (Tensor{"b", {1}, {1}}));
  EXPECT_EQ(file.tensors[1], (Tensor{"a", {1}, {2}}));
}

TEST(Tensors, ReadsEmptyTensors) {
  EXPECT_THAT(read(one("F32", "[0,1000000000000000]", "[0,0]", "")).tensors.at(0).shape,
              ElementsAre(0, 1000000000000000));
  EXPECT_EQ(read(safetensors("{}  ")), TensorFile());
}

TEST(Tensors, RefusesHeadersThatAreNone) {
  EXPECT_THAT(refusal(""), HasSubstr("m.safetensors: 0 bytes"));
  EXPECT_THAT(refusal("1234567"), HasSubstr("7 bytes"));
  EXPECT_THAT(refusal("PK\3\4 some other file"), HasSubstr("cut short"));
  EXPECT_THAT(refusal(joined({number(3, 8), "{}"})),
              AllOf(HasSubstr("3 bytes is promised"), HasSubstr("2 follow")));
  EXPECT_THAT(refusal(joined({number(~std::uint64_t{0}, 8), "{}"})),
              HasSubstr("18446744073709551615 bytes"));
  std::string long_header = "{";
  long_header.resize(100'000'001, ' ');
  EXPECT_THAT(refusal(safetensors(long_header)), HasSubstr("at most 100000000"));
  EXPECT_THAT(refusal(safetensors("")), HasSubstr("begins with ''"));
  EXPECT_THAT(refusal(safetensors(" {}")), HasSubstr("begins with ' '"));
  EXPECT_THAT(refusal(safetensors("\xef\xbb\xbf{}")), HasSubstr("expected '{'"));
  for (const std::string broken :
       {"{", "{}{}", "{]", R"({"a"})", R"({"a":})", "{'a':{}}", R"({"a":{"shape":[1,]}})",
        "{\"\xff\":{}}", R"({"a":{"shape":[1e999]}})"}) {
    EXPECT_THAT(refusal(safetensors(broken)), HasSubstr("header: no JSON at byte ")) << broken;
  }
}

TEST(Tensors, NamesThePlaceInTheHeader) {
  EXPECT_THAT(refusal(safetensors("{\"a\":{},}")), HasSubstr("tensor 'a'"));
  EXPECT_THAT(refusal(safetensors("{\"a\" 1}")), HasSubstr("byte 13 of the file"));
  EXPECT_THAT(refusal(safetensors("{\"a\":1}")), HasSubstr("'a' is 1; expected an object"));
  EXPECT_THAT(refusal(safetensors("{\"a\":null}")), HasSubstr("null"));
  EXPECT_THAT(refusal(safetensors("{\"a\":true}")), HasSubstr("true"));
  EXPECT_THAT(refusal(safetensors("{\"a\":[]}")), HasSubstr("a list"));
  EXPECT_THAT(refusal(safetensors("{\"a\":\"b\"}")), HasSubstr("'b'"));
  EXPECT_THAT(refusal(safetensors(R"({"__metadata__":{"a":1}})")), HasSubstr("expected a text"));
  EXPECT_THAT(refusal(safetensors(R"({"__metadata__":{"a":{}}})")), HasSubstr("expected a text"));
  EXPECT_THAT(refusal(safetensors(R"({"a":{"dtype":1}})")), HasSubstr("'dtype' is 1"));
  EXPECT_THAT(refusal(safetensors(R"({"a":{"shape":"1"}})")), HasSubstr("'shape' is '1'"));
  EXPECT_THAT(refusal(safetensors(R"({"a":{"shape":[-1]}})")), HasSubstr("is -1"));
  EXPECT_THAT(refusal(safetensors(R"({"a":{"shape":[1.5]}})")), HasSubstr("is 1.5"));
  EXPECT_THAT(refusal(safetensors(R"({"a":{"shape":[18446744073709551616]}})")),
              HasSubstr("is 18446744073709551616"));
  EXPECT_THAT(refusal(safetensors(R"({"a":{"shape":[[1]]}})")), HasSubstr("a list"));
  EXPECT_THAT(refusal(safetensors(R"({"a":{"strides":[1]}})")), HasSubstr("'strides'"));
  EXPECT_THAT(refusal(safetensors(R"({"a":{"dtype":"F32","shape":[0]}})")), HasSubstr("lacks"));
}

TEST(Tensors, RefusesNamesThatAreThereTwice) {
  const std::string a = entry("a", "F32", "[0]", "[0,0]");
  EXPECT_THAT(refusal(safetensors(joined({"{", a, ",", a, "}"}))), HasSubstr("'a' is there twice"));
  EXPECT_THAT(refusal(safetensors(R"({"__metadata__":{},"__metadata__":{}})")), HasSubstr("twice"));
  EXPECT_THAT(refusal(safetensors(R"({"__metadata__":{"k":"1","k":"2"}})")),
              HasSubstr("'k' is there twice"));
  EXPECT_THAT(refusal(safetensors(R"({"a":{"shape":[],"shape":[]}})")),
              HasSubstr("'shape' is there twice"));
}

TEST(Tensors, NeverTrustsItsSizes) {
  const std::string data(8, 'x');
  EXPECT_THAT(refusal(one("I32", "[2]", "[0,8]", data)), HasSubstr("dtype 'I32'"));
  EXPECT_THAT(refusal(one("F32", "[3]", "[0,8]", data)), HasSubstr("take 12 bytes"));
  EXPECT_THAT(refusal(one("F16", "[2]", "[0,8]", data)), HasSubstr("take 4 bytes"));
  EXPECT_THAT(refusal(one("F32", "[4294967296,4294967296]", "[0,8]", data)),
              HasSubstr("more entries than can be counted"));
  EXPECT_THAT(refusal(one("F32", "[0,4294967296,4294967296]", "[0,0]", "")),
              HasSubstr("more entries than can be counted"));
  EXPECT_THAT(refusal(one("F32", "[1000000000000]", "[0,4000000000000]", data)),
              HasSubstr("ends at byte 4000000000000"));
  EXPECT_THAT(refusal(one("F32", "[1]", "[18446744073709551612,0]", data)), HasSubstr("expected"));
  EXPECT_THAT(refusal(one("F32", "[1]", "[0]", data)), HasSubstr("'data_offsets' are [0]"));
  EXPECT_THAT(refusal(one("F32", "[1]", "[0,4,8]", data)), HasSubstr("[0, 4, 8]"));
}

TEST(Tensors, RefusesOverlapsAndGaps) {
  const std::string data(12, 'x');
  EXPECT_THAT(refusal(two("[2]", "[0,8]", "[2]", "[4,12]", data)),
              HasSubstr("tensor 'b' begins at byte 4 of the data, inside the one that ends at 8"));
  EXPECT_THAT(refusal(two("[3]", "[0,12]", "[3]", "[0,12]", data)), HasSubstr("inside"));
  EXPECT_THAT(refusal(two("[1]", "[0,4]", "[1]", "[8,12]", data)),
              HasSubstr("bytes 4 to 8 of the data belong to no tensor"));
  EXPECT_THAT(refusal(two("[1]", "[0,4]", "[1]", "[4,8]", data)), HasSubstr("bytes 8 to 12"));
  EXPECT_THAT(refusal(two("[1]", "[4,8]", "[1]", "[8,12]", data)), HasSubstr("bytes 0 to 4"));
}

TEST(Tensors, RefusesEveryTruncation) {
  const std::string whole = two("[1]", "[0,4]", "[2]", "[4,12]", std::string(12, 'x'));
  EXPECT_EQ(refusal(whole), "");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(refusal(whole.substr(0, length)), "") << length;
  }
  EXPECT_NE(refusal(whole + "y"), "");
}

TEST(Tensors, RefusesToWriteWhatNobodyCanRead) {
  const auto path = temp_file("model.safetensors");
  const auto refused = [&](const TensorFile& file) {
    return error_of<Error>([&] { write_tensors(path, file); });
  };
  const std::uint64_t huge = std::uint64_t{1} << 32;
  EXPECT_THAT(refused({{}, {{"a", {2}, {1}}}}), HasSubstr("1 values for a shape [2]"));
  EXPECT_THAT(refused({{}, {{"a", {huge, huge}, {}}}}), HasSubstr("0 values"));
  EXPECT_THAT(refused({{}, {{"a", {}, {1}}, {"a", {}, {2}}}}), HasSubstr("two tensors"));
  EXPECT_THAT(refused({{}, {{"__metadata__", {}, {1}}}}), HasSubstr("__metadata__"));
  EXPECT_THAT(refused({{}, {{"\xff", {}, {1}}}}), HasSubstr("UTF-8"));
  EXPECT_THAT(refused({{{"a", "\xff"}}, {}}), HasSubstr("UTF-8"));
}

}  // namespace
