#include "io/pickle.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "ngf/error.hpp"
#include "tests/binary_bytes.hpp"
#include "tests/support.hpp"

namespace {

using namespace ngf::test;  // the makers of pickles
using ngf::Error;
using ngf::io::Input;
using ngf::io::Pickle;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = Pickle::Kind;

std::string refusal(const std::string& bytes) {
  return error_of<Error>([&] { Pickle(Input("p.pickle", bytes)); });
}

std::string array_refusal(const std::string& body) {
  return error_of<Error>([&] {
    const std::string bytes = pickle(body);
    const Pickle value(Input("p.pickle", bytes));
    value.array(value.root(), 'i', "it");
  });
}

std::string sparse_refusal(const std::string& body) {
  return error_of<Error>([&] {
    const std::string bytes = pickle(body);
    const Pickle value(Input("p.pickle", bytes));
    value.sparse(value.root(), "it");
  });
}

TEST(Pickle, ReadsPlainValues) {
  // (None, True, [1, -2, 300], {'a': 'b'}, (), (7,), (7, 8))
  const std::string bytes =
      pickle("(N\x88](" + pickled_int(1) + pickled_int(-2) + pickled_int(300) + "e}(" +
             pickled_string("a") + pickled_string("b") + "u)" + pickled_int(7) + "\x85" +
             pickled_int(7) + pickled_int(8) + "\x86t");
  const Pickle value(Input("p.pickle", bytes));
  const auto items = value.items(value.root(), Kind::tuple, "it");
  ASSERT_EQ(items.size(), 7U);
  EXPECT_EQ(value.kind(items[0]), Kind::none);
  EXPECT_EQ(value.kind(items[1]), Kind::boolean);
  const auto list = value.items(items[2], Kind::list, "it");
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(value.integer(list[1], "it"), -2);
  EXPECT_EQ(value.integer(list[2], "it"), 300);
  const auto dict = value.items(items[3], Kind::dict, "it");
  ASSERT_EQ(dict.size(), 2U);
  EXPECT_EQ(value.string(dict[1], "it"), "b");
  EXPECT_TRUE(value.items(items[4], Kind::tuple, "it").empty());
  EXPECT_EQ(value.items(items[6], Kind::tuple, "it").size(), 2U);
  EXPECT_THAT(error_of<Error>([&] { value.integer(items[2], "the answer"); }),
              HasSubstr("p.pickle: the answer is a list; expected a whole number"));
}

TEST(Pickle, UsesMemoisedValuesAgain) {
  // ((l, l), l, (l, l)), where the list l grows after the inner tuple was made.
  const std::string bytes = pickle("]q\5h\5\x86q\6h\5K\1ah\6\x87");
  const Pickle value(Input("p.pickle", bytes));
  const auto outer = value.items(value.root(), Kind::tuple, "it");
  ASSERT_EQ(outer.size(), 3U);
  EXPECT_EQ(outer[0], outer[2]);
  EXPECT_THAT(value.items(outer[0], Kind::tuple, "it"), ElementsAre(outer[1], outer[1]));
  EXPECT_EQ(value.items(outer[1], Kind::list, "it").size(), 1U);
}

TEST(Pickle, ReadsArrays) {
  const std::string bytes = pickle(pickled_ints({2, 2}, {1, 0, -5, 7}));
  const Pickle value(Input("p.pickle", bytes));
  const Pickle::Array array = value.array(value.root(), 'i', "it");
  EXPECT_THAT(array.shape, ElementsAre(2, 2));
  EXPECT_THAT(array.ints(), ElementsAre(1, 0, -5, 7));
}

TEST(Pickle, ReadsSparseMatrices) {
  const std::string bytes = pickle(pickled_csr(2, 5, {0, 1, 3}, {4, 0, 2}, {1.5F, 2, 3}));
  const Pickle value(Input("p.pickle", bytes));
  const Pickle::Sparse sparse = value.sparse(value.root(), "it");
  EXPECT_EQ(sparse.csr.rows, 2U);
  EXPECT_EQ(sparse.csr.cols, 5U);
  EXPECT_THAT(sparse.csr.indptr, ElementsAre(0, 1, 3));
  EXPECT_THAT(sparse.csr.indices, ElementsAre(4, 0, 2));
  EXPECT_THAT(sparse.values, ElementsAre(1.5F, 2, 3));
}

TEST(Pickle, RefusesNamesThatTheFormatDoesNotNeed) {
  const std::string attack =
      pickle(pickled_global("os", "system") + "(" + pickled_string("touch /tmp/owned") + "tR");
  EXPECT_THAT(refusal(attack), AllOf(HasSubstr("byte 2"), HasSubstr("names 'os.system'"),
                                     HasSubstr("does not need: refused")));
  for (const auto& [module, name] : {std::pair{"posix", "system"},
                                     {"__builtin__", "eval"},
                                     {"builtins", "list"},
                                     {"numpy", "load"},
                                     {"numpy.ndarray", ""},
                                     {"", "numpy.ndarray"},
                                     {"", ""}}) {
    EXPECT_THAT(refusal(pickle(pickled_global(module, name))), HasSubstr("refused")) << module;
  }
}

TEST(Pickle, RefusesOpcodesThatTheFormatDoesNotNeed) {
  const std::string needed = "\x80.(cRb\x81qrhN\x88\x89JKMUT)\x85\x86\x87t]ae}u";
  ASSERT_EQ(needed.size(), 28U);
  for (int opcode = 0; opcode < 256; ++opcode) {
    const char byte = static_cast<char>(opcode);
    const std::string answer = refusal(pickle(std::string(1, byte)));
    const std::string name = fmt::format("opcode 0x{:02x}", opcode);
    if (needed.find(byte) == std::string::npos) {
      EXPECT_THAT(answer, AllOf(HasSubstr(name), HasSubstr("byte 2"), HasSubstr("refused")));
    } else {
      EXPECT_THAT(answer, Not(HasSubstr(name)));
    }
  }
}

TEST(Pickle, RefusesCallsThatTheFormatDoesNotNeed) {
  const std::string ndarray = pickled_global("numpy", "ndarray");
  const std::string csr = pickled_global("scipy.sparse.csr", "csr_matrix");
  EXPECT_THAT(refusal(pickle(ndarray + ")R")), HasSubstr("calls numpy.ndarray"));
  EXPECT_THAT(refusal(pickle(csr + ")R")), HasSubstr("csr_matrix"));
  EXPECT_THAT(refusal(pickle(ndarray + ")\x81")), HasSubstr("calls numpy.ndarray"));
  EXPECT_THAT(refusal(pickle(csr + "N\x85\x81")), HasSubstr("csr_matrix"));
  EXPECT_THAT(refusal(pickle("K\1)R")), HasSubstr("calls a whole number"));
  EXPECT_THAT(refusal(pickle(ndarray + "]R")), HasSubstr("passes a list"));
  EXPECT_THAT(refusal(pickle(pickled_global("collections", "defaultdict") + ndarray + "\x85R")),
              HasSubstr("calls collections.defaultdict"));
  EXPECT_THAT(refusal(pickle(pickled_dtype("O8"))), HasSubstr("dtype other than"));
  EXPECT_THAT(refusal(pickle(pickled_dtype("f4", ">"))), HasSubstr("little-endian"));
  EXPECT_THAT(refusal(pickle("]N" + std::string("b"))), HasSubstr("builds a list from None"));
  EXPECT_THAT(refusal(pickle(csr + ")\x81)b")), HasSubstr("builds a csr_matrix from a tuple"));
}

TEST(Pickle, RefusesBrokenPrograms) {
  EXPECT_THAT(refusal(""), HasSubstr("cut off"));
  EXPECT_THAT(refusal("\x80\x03N."), HasSubstr("protocol 3"));
  EXPECT_THAT(refusal(pickle("")), HasSubstr("not there"));
  EXPECT_THAT(refusal(pickle("NN")), HasSubstr("unfinished"));
  EXPECT_THAT(refusal(pickle("(N")), HasSubstr("unfinished"));
  EXPECT_THAT(refusal(pickle("N") + "more"), HasSubstr("4 bytes follow"));
  EXPECT_THAT(refusal(pickle("t")), HasSubstr("mark"));
  EXPECT_THAT(refusal(pickle("N(\x85")), HasSubstr("not there"));
  EXPECT_THAT(refusal(pickle("N\x86")), HasSubstr("not there"));
  EXPECT_THAT(refusal(pickle("a")), HasSubstr("not there"));
  EXPECT_THAT(refusal(pickle("NNa")), HasSubstr("puts a value into None; expected a list"));
  EXPECT_THAT(refusal(pickle("](NNu")), HasSubstr("into a list; expected a dictionary"));
  EXPECT_THAT(refusal(pickle("}(Nu")), HasSubstr("without a value"));
  EXPECT_THAT(refusal(pickle("h\7")), HasSubstr("slot 7, never set"));
  EXPECT_THAT(refusal(pickle("Nq\7h\6")), HasSubstr("slot 6, never set"));
  EXPECT_THAT(refusal(pickle("Nr\xff\xff\xff\xff")), HasSubstr("slot 4294967295, too large"));
  EXPECT_THAT(refusal(pickle("T\xff\xff\xff\x7f")), HasSubstr("2147483647 more bytes"));
  EXPECT_THAT(refusal(pickle("cnumpy\nndarray")), HasSubstr("cut off"));
}

TEST(Pickle, RefusesArraysThatAreNone) {
  const std::string dtype = pickled_dtype("i4");
  EXPECT_THAT(array_refusal("N"), HasSubstr("it is None; expected an array"));
  EXPECT_THAT(array_refusal(pickled_array({3}, dtype, "12345678")),
              HasSubstr("takes 12 bytes, but 8 are there"));
  EXPECT_THAT(array_refusal(pickled_array({-1}, dtype, "")), HasSubstr("negative size -1"));
  EXPECT_THAT(array_refusal(pickled_array({2147483647, 2147483647, 2147483647}, dtype, "")),
              HasSubstr("can be counted"));
  EXPECT_THAT(array_refusal(pickled_array({1}, pickled_dtype("f4"), "1234")),
              HasSubstr("f4; expected <i4"));
  EXPECT_THAT(array_refusal(pickled_array({1}, "N", "1234")), HasSubstr("expected a dtype"));
  EXPECT_THAT(array_refusal(pickled_array({1}, dtype, "1234", true)), HasSubstr("Fortran"));
  const std::string unbuilt =
      pickled_global("numpy", "dtype") + "U\2i4K" + '\0' + std::string("K\1\x87R");
  EXPECT_THAT(array_refusal(pickled_array({1}, unbuilt, "1234")), HasSubstr("expected <i4"));
  const std::string shell = pickled_empty_array();
  EXPECT_THAT(array_refusal(shell), HasSubstr("it is None; expected a tuple"));
  EXPECT_THAT(array_refusal(shell + "K\1\x85" + "b"), HasSubstr("another version"));
}

TEST(Pickle, RefusesMatricesThatAreNone) {
  const auto matrix =
      [](std::int64_t rows, std::int64_t cols, const std::vector<std::int32_t>& indptr,
         const std::vector<std::int32_t>& indices, const std::vector<float>& values) {
        return sparse_refusal(pickled_csr(rows, cols, indptr, indices, values));
      };
  EXPECT_THAT(sparse_refusal("N"), HasSubstr("expected a csr_matrix"));
  EXPECT_THAT(sparse_refusal(pickled_global("scipy.sparse.csr", "csr_matrix") + ")\x81"),
              HasSubstr("it is None; expected a dictionary"));
  EXPECT_THAT(sparse_refusal(pickled_csr({{"_shape", ")"}})), HasSubstr("0 dimensions"));
  EXPECT_THAT(sparse_refusal(pickled_csr({{"data", "N"}})), HasSubstr("it has no _shape"));
  EXPECT_THAT(matrix(-1, 3, {0}, {}, {}), HasSubstr("(-1, 3)"));
  EXPECT_THAT(matrix(1, 3, {0, 1}, {3}, {1}), HasSubstr("column 3; expected 0..2"));
  EXPECT_THAT(matrix(1, 3, {0, 1}, {-1}, {1}), HasSubstr("column -1"));
  EXPECT_THAT(matrix(1, 3, {0, 2}, {1}, {1}), HasSubstr("0 to 2"));
  EXPECT_THAT(matrix(2000000000, 3, {0, 1}, {1}, {1}), HasSubstr("2000000000 rows"));
  EXPECT_THAT(matrix(1, 3, {0, 1}, {1}, {1, 2}), HasSubstr("2 values for 1 indices"));
}

TEST(Pickle, RefusesEveryTruncation) {
  const std::string whole = pickle(pickled_csr(2, 5, {0, 1, 3}, {4, 0, 2}, {1.5F, 2, 3}));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(Pickle(Input("p.pickle", std::string_view(whole).substr(0, length))), Error);
  }
}

TEST(Pickle, TakesDeepNestingAndCyclesInItsStride) {
  // A million lists, each in the next; and a list that holds itself.
  std::string deep(1000000, ']');
  deep += std::string(999999, 'a');
  EXPECT_EQ(refusal(pickle(deep)), "");
  EXPECT_EQ(refusal(pickle(std::string(1000000, '(') + "N" + std::string(1000000, 't'))), "");
  EXPECT_EQ(refusal(pickle("]q\1h\1a")), "");
}

TEST(Pickle, SharesWhatAMemoBombWouldCopy) {
  // Each tuple holds the one before twice: 2^200 leaves, were they copied.
  std::string bomb = "Nq" + std::string(1, '\0');
  for (int i = 0; i < 200; ++i) {
    bomb += 'h' + number(static_cast<std::uint64_t>(i), 1);
    bomb += "\x86q" + number(static_cast<std::uint64_t>(i) + 1, 1);
  }
  EXPECT_EQ(refusal(pickle(bomb)), "");
}

TEST(Pickle, ReadsTheRealFiles) {
  NGF_NEED_DATA(data);
  const Pickle value(Input(data / "planetoid" / "ind.cora.x"));
  const Pickle::Sparse sparse = value.sparse(value.root(), "it");
  EXPECT_EQ(sparse.csr.rows, 140U);
  EXPECT_EQ(sparse.csr.cols, 1433U);
  EXPECT_EQ(sparse.values.size(), 2647U);
}

}  // namespace
