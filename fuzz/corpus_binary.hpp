#pragma once

// What the fuzzers of the binary formats begin from: small files of every kind, right ones and ones
// that are wrong in one place, so that the seeds alone reach most lines of the readers.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "io/formats.hpp"
#include "tests/binary_bytes.hpp"

namespace ngf::fuzz {

using Seeds = std::map<std::string, std::string>;

inline Seeds npy_seeds() {
  using namespace ngf::test;
  Seeds seeds;
  for (const std::string dtype : {"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8",
                                  "<f2", "<f4", "<f8", ">i2", ">f8", "|S1", "<U1"}) {
    const std::size_t item = dtype[1] == 'U' ? 4 : static_cast<std::size_t>(dtype[2] - '0');
    seeds[joined({dtype.substr(1), dtype[0] == '>' ? "_big" : ""})] =
        npy(dtype, "(2, 3)", std::string(6 * item, '\1'));
  }
  seeds["column"] = doubles({1, 2, 3});
  seeds["fortran"] = npy("<i2", "(2, 2)", "abcdefgh", true);
  seeds["fortran_3d"] = npy("|u1", "(1, 1, 1)", "a", true);
  seeds["empty"] = npy("<f4", "(0, 7)", "", true);
  seeds["scalar"] = npy("<f8", "()", "12345678");
  seeds["text"] = npy("|S3", "()", "csr");
  seeds["wide_text"] = npy(">U1", "()", std::string("\0\0\0a", 4));
  seeds["indices"] = ints({1, 99, 100});
  seeds["negative"] = ints({1, -1});
  seeds["version_2"] =
      npy_with_header("{\"shape\": (1L,), \"fortran_order\": False, \"descr\": \"f4\"}", "abcd", 2);
  seeds["version_4"] = npy_with_header("{}", "", 4);
  seeds["object"] = npy("|O", "(1,)", "12345678");
  seeds["complex"] = npy("<c8", "(1,)", "12345678");
  seeds["records"] = npy_with_header("{'descr': [('a', '<f8')]}", "");
  seeds["too_short"] = npy("<f8", "(2,)", "12345678");
  seeds["too_many"] = npy("<f8", "(4294967296, 4294967296)", "");
  seeds["too_wide"] = npy("<f8", "(0, 2000000000000000000)", "");
  seeds["no_shape"] = npy_with_header("{'descr': '<f8', }", "");
  seeds["twice"] = npy_with_header("{'descr': '<f8', 'descr': '<f8'}", "");
  seeds["no_key"] = npy_with_header("{1: 2}", "");
  seeds["open_key"] = npy_with_header("{'descr", "");
  seeds["no_colon"] = npy_with_header("{'descr' '<f8'}", "");
  seeds["no_comma"] = npy_with_header("{'descr': '<f8' 'shape': ()}", "");
  seeds["no_order"] = npy_with_header("{'fortran_order': 1}", "");
  seeds["no_size"] = npy_with_header("{'shape': (a,)}", "");
  seeds["no_bracket"] = npy_with_header("{'shape': (1 2)}", "");
  seeds["cut"] = seeds["column"].substr(0, 30);
  seeds["magic"] = "\x93NUMPY\1";
  seeds["nothing"] = "";
  return seeds;
}

/// A data set of five nodes, with everything that a layout can hold.
inline Dataset seed_dataset(bool sparse, bool weighted) {
  EdgeBlock block{{{0, 1}, {1, 2}, {2, 0}, {3, 3}}, {}};
  if (weighted) block.weights = {1, 2, 3, 4};
  Dataset dataset;
  dataset.graph = build_graph(5, std::vector{block}, {.keep_self_loops = true, .threads = 1});
  const MatrixF features = MatrixF::Identity(5, 3);
  if (sparse) dataset.features = SparseMatrixF(features.sparseView());
  if (!sparse) dataset.features = features;
  dataset.labels = {0, 1, -1, 1, 0};
  dataset.splits = {{{0}, {1}, {2, 3}}, {{3}, {2}, {0, 1}}};
  return dataset;
}

inline std::string npz_of(const Dataset& dataset, io::Format format) {
  const auto path = std::filesystem::temp_directory_path() / "ngf-seed.npz";
  io::write_npz(path, dataset, format);
  const std::string bytes = io::Input(path).read_all();
  std::filesystem::remove(path);
  return bytes;
}

/// The form in which npz_fuzz takes arrays without an archive around them.
inline std::string bare_members(const ngf::test::Members& members) {
  using ngf::test::joined;
  std::string bytes;
  for (const auto& [name, array] : members) {
    bytes += joined({name, "\n", ngf::test::number(array.size(), 4), array});
  }
  return bytes;
}

inline Seeds npz_seeds() {
  using namespace ngf::test;
  Seeds seeds;
  seeds["ours_scipy"] = npz_of(seed_dataset(true, true), io::Format::npz_scipy);
  seeds["ours_edges"] = npz_of(seed_dataset(true, true), io::Format::npz_edges);
  seeds["ours_csr"] = npz_of(seed_dataset(true, false), io::Format::npz_csr);
  seeds["ours_ppnp"] = npz_of(seed_dataset(false, true), io::Format::npz_ppnp);
  Dataset bare;
  bare.graph = seed_dataset(false, true).graph;
  seeds["ours_bare"] = npz_of(bare, io::Format::npz_edges);

  const auto path_with = [&](const std::string& name, const std::string& bytes) {
    Members members = path_graph();
    members[name] = bytes;
    return npz(members);
  };
  seeds["csr"] = npz(path_graph());
  seeds["csc"] = path_with("format", npy("|S3", "()", "csc"));
  seeds["two_weights"] = path_with("data", doubles({2, 3, 3, 3}));
  seeds["bsr"] = path_with("format", npy("|S3", "()", "bsr"));
  seeds["array"] = path_with("_is_array", npy("|b1", "()", "\1"));
  seeds["pattern"] = path_with("data", npy("|b1", "(4,)", "\1\1\1\1"));
  seeds["oblong"] = path_with("shape", ints({3, 4}));
  seeds["negative_shape"] = path_with("shape", ints({-3, 3}));
  seeds["long_shape"] = path_with("shape", ints({3, 3, 3}));
  seeds["more_rows"] = path_with("shape", ints({4, 4}));
  seeds["fewer_rows"] = path_with("shape", ints({2, 2}));
  seeds["falling"] = path_with("indptr", ints({0, 3, 1, 4}));
  seeds["past_the_end"] = path_with("indptr", ints({0, 1, 3, 5}));
  seeds["negative_index"] = path_with("indices", ints({1, 0, -2, 1}));
  seeds["infinite"] =
      path_with("data", npy("<f4", "(4,)", raw<std::uint32_t>({0, 0, 0x7f800000, 0})));
  seeds["unknown"] = path_with("x", "not an array");
  Members coo = path_graph();
  coo["format"] = npy("|S3", "()", "coo");
  coo["row"] = ints({0, 1, 2, 1});
  coo["col"] = ints({1, 0, 1, 2});
  seeds["coo"] = npz(coo);
  seeds["bare_coo"] = bare_members(coo);
  coo["shape"] = npy("<i8", "(2,)", raw<std::int64_t>({1LL << 60, 1LL << 60}));
  seeds["incredible"] = npz(coo);
  coo.erase("format");
  seeds["no_layout"] = npz(coo);

  const auto edges_with = [&](const std::string& name, const std::string& bytes) {
    Members members = edges_dataset();
    members[name] = bytes;
    return npz(members);
  };
  seeds["edges"] = npz(edges_dataset());
  seeds["bare_edges"] = bare_members(edges_dataset());
  seeds["bare_csr"] = bare_members(path_graph());
  seeds["edges_alone"] = npz({{"edges", npy("<i8", "(1, 2)", raw<std::int64_t>({0, 2}))}});
  seeds["wrong_edges"] = edges_with("edges", ints({0, 1}));
  seeds["wrong_count"] = edges_with("num_nodes", ints({3, 3}));
  seeds["wrong_label"] = edges_with("node_labels", ints({0, -2, 0}));
  seeds["large_label"] = edges_with("node_labels", ints({0, 65536, 0}));
  seeds["few_labels"] = edges_with("node_labels", ints({0, 1}));
  seeds["wrong_mask"] = edges_with("val_masks", npy("|b1", "(3,)", "\1\1\1"));
  seeds["one_split"] = edges_with("val_masks", npy("|b1", "(1, 3)", "\1\1\1"));
  seeds["many_splits"] =
      npz({{"edges", npy("<i8", "(0, 2)", "")}, {"test_masks", npy("|b1", "(1000000000, 0)", "")}});
  seeds["mask"] =
      npz({{"edges", npy("<i8", "(0, 2)", "")}, {"test_mask", npy("|b1", "(2,)", "\1\1")}});

  Members rows;
  for (const auto& [name, bytes] : path_graph()) rows[joined({"adj_", name})] = bytes;
  rows["attr_shape"] = ints({3, 9});
  rows["attr_indptr"] = ints({0, 3, 3, 4});
  rows["attr_indices"] = ints({8, 2, 8, 0});
  rows["attr_data"] = doubles({1, 2, 4, 8});
  seeds["unsorted"] = npz(rows);
  seeds["bare_rows"] = bare_members(rows);
  rows["attr_shape"] = npy("<i8", "(2,)", raw<std::int64_t>({3, 1LL << 40}));
  seeds["too_wide"] = npz(rows);

  seeds["deflated"] = zip({{.name = "format.npy", .bytes = ints({1}), .deflated = true}});
  seeds["zip64"] = zip({{.name = "edges.npy", .bytes = ints({1}), .zip64 = true}});
  seeds["longer"] = zip({{.name = "edges.npy", .bytes = ints({1}), .deflated = true, .size = 5}});
  seeds["shorter"] =
      zip({{.name = "edges.npy", .bytes = ints({1}), .deflated = true, .size = 500}});
  seeds["damaged"] = zip({{.name = "edges.npy", .bytes = ints({1}), .crc = 1}});
  seeds["encrypted"] = zip({{.name = "edges.npy", .bytes = ints({1}), .flags = 1}});
  seeds["method"] = zip({{.name = "edges.npy", .bytes = ints({1}), .method = 12}});
  seeds["claims"] = zip({{.name = "edges.npy", .bytes = ints({1}), .compressed = 1U << 20}});
  seeds["impossible"] = zip({{.name = "edges.npy", .bytes = ints({1}), .size = 1U << 20}});
  const ZipEntry large{
      .name = "edges.npy", .bytes = std::string(20000, 'x'), .method = 8, .size = 20000 * 1000};
  seeds["bomb"] = zip({large, large});
  seeds["twice"] = zip({{.name = "edges.npy"}, {.name = "edges.npy"}});
  seeds["cut"] = seeds["csr"].substr(0, 100);
  return seeds;
}

inline Seeds pickle_seeds() {
  using namespace ngf::test;
  const std::string dtype = pickled_dtype("i4");
  const std::string list = pickled_global("__builtin__", "list");
  const std::string matrix = pickled_global("scipy.sparse.csr", "csr_matrix");
  Seeds seeds;
  for (const auto& [name, bytes] : tiny_planetoid()) seeds[name] = bytes;
  seeds["values"] =
      pickle(joined({"(N\x88\x89", pickled_int(-1), pickled_string(std::string(300, 'a')),
                     ")N\x85NN\x86NNN\x87]Na}(NNut"}));
  seeds["memo"] = pickle("]q\1h\1\x86r\2" + std::string(3, '\0') + "h\2\x86");
  seeds["integer"] = pickle("K\1");
  seeds["string"] = pickle("U\1a");
  seeds["system"] = pickle(joined({pickled_global("os", "system"), "U\2ls\x85R"}));
  seeds["opcode"] = pickle("X");
  seeds["protocol"] = "\x80\4N.";
  seeds["more"] = "\x80\2N.N";
  seeds["unfinished"] = pickle("NN");
  seeds["cut"] = "\x80\2T\xff\xff\xff\x7f";
  seeds["no_mark"] = pickle("t");
  seeds["no_value"] = pickle("a");
  seeds["no_slot"] = pickle("h\7");
  seeds["high_slot"] = pickle("Nr\xff\xff\xff\xff");
  seeds["no_list"] = pickle("NNa");
  seeds["odd"] = pickle("}(Nu");
  seeds["call"] = pickle(joined({list, ")R"}));
  seeds["call_list"] = pickle(joined({list, "]R"}));
  seeds["new_list"] = pickle(joined({list, ")\x81"}));
  seeds["dtype_o8"] = pickle(pickled_dtype("O8"));
  seeds["dtype_big"] = pickle(pickled_dtype("i4", ">"));
  seeds["build"] = pickle("NNb");
  seeds["floats"] = pickle(pickled_array({1}, pickled_dtype("f4"), "abcd"));
  seeds["unbuilt"] = pickle(pickled_empty_array());
  seeds["version"] = pickle(joined({pickled_empty_array(),
                                    "N\x85"
                                    "b"}));
  seeds["negative"] = pickle(pickled_array({-1}, dtype, ""));
  seeds["countless"] = pickle(pickled_array({1 << 30, 1 << 30, 1 << 30}, dtype, ""));
  seeds["fortran"] = pickle(pickled_array({1}, dtype, "abcd", true));
  seeds["too_short"] = pickle(pickled_array({2}, dtype, "abcd"));
  seeds["no_shape"] = pickle(pickled_csr({{"data", "N"}}));
  seeds["flat"] = pickle(pickled_csr({{"_shape", ")"}}));
  seeds["below_zero"] = pickle(pickled_csr(-1, 1, {0}, {}, {}));
  seeds["column"] = pickle(pickled_csr(1, 1, {0, 1}, {1}, {1}));
  seeds["falling"] = pickle(pickled_csr(2, 1, {0, 1, 0}, {0}, {1}));
  seeds["past_the_end"] = pickle(pickled_csr(1, 1, {0, 2}, {0}, {1}));
  seeds["rows"] = pickle(pickled_csr(5, 1, {0, 1}, {0}, {1}));
  seeds["few_values"] = pickle(pickled_csr(1, 1, {0, 1}, {0}, {}));
  seeds["unsorted"] = pickle(pickled_csr(1, 3, {0, 3}, {2, 0, 2}, {1, 2, 3}));
  seeds["matrix"] = pickle(joined({matrix, ")\x81"}));
  return seeds;
}

inline Seeds planetoid_seeds() {
  using namespace ngf::test;
  const auto with = [](const std::string& ending, const std::string& bytes) {
    auto files = tiny_planetoid();
    if (!ending.empty()) files[ending] = bytes;
    std::string whole;
    for (const char* name : {"x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"}) {
      whole += joined({number(files[name].size(), 4), files[name]});
    }
    return whole;
  };
  const std::string shared = "}(K\1]q\1(K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1eK\2h\1K\3h\1K\4h\1u";
  Seeds seeds;
  seeds["right"] = with("", "");
  seeds["x_rows"] = with("x", pickle(pickled_csr(2, 3, {0, 0, 0}, {}, {})));
  seeds["x_columns"] = with("x", pickle(pickled_csr(1, 4, {0, 0}, {}, {})));
  seeds["x_longer"] = with("allx", pickle(pickled_csr(0, 3, {0}, {}, {})));
  seeds["flat_labels"] = with("y", pickle(pickled_ints({2}, {1, 0})));
  seeds["no_class"] = with("y", pickle(pickled_ints({1, 0}, {})));
  seeds["two_hot"] = with("y", pickle(pickled_ints({1, 2}, {1, 1})));
  seeds["index_text"] = with("test.index", "5\r\nx\n");
  seeds["index_twice"] = with("test.index", "5\n5\n");
  seeds["index_huge"] = with("test.index", "5\n4294967290\n");
  seeds["node"] = with("graph", pickle(pickled_graph({{6}})));
  seeds["node_twice"] = with("graph", pickle("}(K\1]K\1]u"));
  seeds["shared"] = with("graph", pickle(shared));
  return seeds;
}

inline Seeds tensors_seeds() {
  using namespace ngf::test;
  const std::string data = "abcdefgh";
  const auto tensor = [](const std::string& dtype, const std::string& shape,
                         const std::string& offsets) {
    return joined(
        {R"({"dtype":")", dtype, R"(","shape":)", shape, R"(,"data_offsets":)", offsets, "}"});
  };
  const auto one = [&](const std::string& value) {
    return safetensors(joined({R"({"a":)", value, "}"}), data);
  };
  const auto two = [&](const std::string& first, const std::string& second) {
    return safetensors(joined({R"({"a":)", tensor("F32", "[1]", first), R"(,"b":)",
                               tensor("F32", "[1]", second), "}"}),
                       data);
  };
  Seeds seeds;
  seeds["f32"] = one(tensor("F32", "[2,1]", "[0,8]"));
  seeds["f64"] = one(tensor("F64", "[]", "[0,8]"));
  seeds["f16"] = one(tensor("F16", "[4]", "[0,8]"));
  seeds["bf16"] = one(tensor("BF16", "[2,2]", "[0,8]"));
  seeds["i64"] = one(tensor("I64", "[1]", "[0,8]"));
  seeds["two"] = two("[4,8]", "[0,4]");
  seeds["overlap"] = two("[0,4]", "[0,4]");
  seeds["gap"] = two("[4,8]", "[8,12]");
  seeds["gap_between"] = safetensors(joined({R"({"a":)", tensor("F32", "[0]", "[0,0]"), R"(,"b":)",
                                             tensor("F32", "[1]", "[4,8]"), "}"}),
                                     data);
  seeds["left_over"] = one(tensor("F32", "[1]", "[0,4]"));
  seeds["past_the_end"] = one(tensor("F32", "[3]", "[0,12]"));
  seeds["backwards"] = one(tensor("F32", "[2]", "[8,0]"));
  seeds["three_offsets"] = one(tensor("F32", "[2]", "[0,4,8]"));
  seeds["shape"] = one(tensor("F32", "[3]", "[0,8]"));
  seeds["too_many"] = one(tensor("F32", "[0,4294967296,4294967296]", "[0,0]"));
  seeds["empty"] = safetensors(joined({R"({"a":)", tensor("F32", "[0,7]", "[0,0]"), "}"}));
  seeds["metadata"] = safetensors(R"({"__metadata__":{"by":"hand"}}   )");
  seeds["metadata_number"] = safetensors(R"({"__metadata__":{"by":1}})");
  seeds["twice"] = safetensors(R"({"__metadata__":{},"__metadata__":{}})");
  seeds["lacks"] = one(R"({"dtype":"F32"})");
  for (const char* const value : {"null", "true", "-1", "1", "0.5", "\"x\"", "{\"a\":{}}", "[]",
                                  "{\"shape\":[[1]]}", "{\"shape\":[1.5]}", "{\"order\":[1]}"}) {
    seeds[joined({"value", std::to_string(seeds.size())})] = one(value);
  }
  seeds["no_json"] = safetensors("{\"a\":");
  seeds["no_object"] = safetensors("[]");
  seeds["long_header"] = joined({number(~std::uint64_t{0}, 8), "{}"});
  seeds["cut"] = seeds["f32"].substr(0, 30);
  seeds["nothing"] = "";
  return seeds;
}

}  // namespace ngf::fuzz

/// The seeds of each fuzzer, by its name and theirs.
inline std::map<std::string, std::map<std::string, std::string>> binary_seeds() {
  return {{"npy_fuzz", ngf::fuzz::npy_seeds()},
          {"npz_fuzz", ngf::fuzz::npz_seeds()},
          {"pickle_fuzz", ngf::fuzz::pickle_seeds()},
          {"planetoid_fuzz", ngf::fuzz::planetoid_seeds()},
          {"tensors_fuzz", ngf::fuzz::tensors_seeds()}};
}
