#pragma once

// Bytes of .npy files, .npz files and pickles, made by hand and apart from the library's own
// writers, so that they can also be wrong.

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ngf::test {

/// All of the parts, one after the other.
inline std::string joined(std::initializer_list<std::string_view> parts) {
  std::string whole;
  for (const std::string_view part : parts) whole += part;
  return whole;
}

/// The numbers as they lie in memory; the machine is little-endian.
template <typename T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// The low `count` bytes of a number.
inline std::string number(std::uint64_t value, std::size_t count) {
  return {reinterpret_cast<const char*>(&value), count};
}

inline std::string npy_with_header(std::string_view header, std::string_view data,
                                   char version = 1) {
  const std::string start{version, '\0'};
  const std::string length = number(header.size() + 1, version == 1 ? 2 : 4);
  return joined({"\x93NUMPY", start, length, header, "\n", data});
}

/// `shape` as in Python: "(3, 4)".
inline std::string npy(std::string_view dtype, std::string_view shape, std::string_view data,
                       bool fortran_order = false) {
  const std::string_view order = fortran_order ? "True" : "False";
  const std::string header =
      joined({"{'descr': '", dtype, "', 'fortran_order': ", order, ", 'shape': ", shape, ", }"});
  return npy_with_header(header, data);
}

/// Arrays of one dimension.
inline std::string ints(const std::vector<std::int32_t>& values) {
  return npy("<i4", joined({"(", std::to_string(values.size()), ",)"}), raw(values));
}
inline std::string doubles(const std::vector<double>& values) {
  return npy("<f8", joined({"(", std::to_string(values.size()), ",)"}), raw(values));
}

inline std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) * 0xedb88320U);
  }
  return ~crc;
}

/// A member of an archive: stored, or as deflate's own "stored" blocks. What is set beside the
/// bytes is what the directory claims.
struct ZipEntry {
  std::string name = {};
  std::string bytes = {};
  bool deflated = false;
  bool zip64 = false;
  std::uint16_t flags = 0;
  std::optional<std::uint16_t> method = {};
  std::optional<std::uint64_t> size = {};
  std::optional<std::uint64_t> compressed = {};
  std::optional<std::uint32_t> crc = {};
};

inline std::string zip(const std::vector<ZipEntry>& entries) {
  std::string archive;
  std::string directory;
  for (const ZipEntry& entry : entries) {
    const std::uint64_t length = entry.bytes.size();
    const std::string block = joined({"\1", number(length, 2), number(~length, 2)});
    const std::string data = joined({entry.deflated ? block : "", entry.bytes});
    const std::uint64_t size = entry.size.value_or(length);
    const std::uint64_t compressed = entry.compressed.value_or(data.size());
    const std::string offset = number(archive.size(), 8);
    const std::string common =
        joined({number(entry.flags, 2), number(entry.method.value_or(entry.deflated ? 8 : 0), 2),
                number(0x00210000, 4), number(entry.crc.value_or(crc32(entry.bytes)), 4)});
    // In ZIP64 the true numbers follow the name.
    const std::string absent = number(0xffffffff, 4);
    const std::string wide = joined({number(size, 8), number(compressed, 8)});
    const auto sizes_and_name = [&](std::string_view extra, std::string_view rest) {
      return joined({entry.zip64 ? absent : number(compressed, 4),
                     entry.zip64 ? absent : number(size, 4), number(entry.name.size(), 2),
                     number(extra.size(), 2), rest, entry.name, extra});
    };
    const auto extra = [&](std::string_view numbers) {
      return entry.zip64 ? joined({number(1, 2), number(numbers.size(), 2), numbers}) : "";
    };
    const std::string narrow_offset = entry.zip64 ? absent : offset.substr(0, 4);
    archive += joined({"PK\3\4", number(45, 2), common, sizes_and_name(extra(wide), ""), data});
    directory += joined({"PK\1\2", number(45, 2), number(45, 2), common,
                         sizes_and_name(extra(joined({wide, offset})),
                                        joined({std::string(10, '\0'), narrow_offset}))});
  }
  const std::string count = number(entries.size(), 2);
  return joined({archive, directory, "PK\5\6", number(0, 4), count, count,
                 number(directory.size(), 4), number(archive.size(), 4), number(0, 2)});
}

/// The arrays of an .npz file, by name.
using Members = std::map<std::string, std::string>;

inline std::string npz(const Members& members) {
  std::vector<ZipEntry> entries;
  entries.reserve(members.size());
  for (const auto& [name, bytes] : members) entries.push_back({joined({name, ".npy"}), bytes});
  return zip(entries);
}

/// The path 0 - 1 - 2 with weights 2 and 3, as SciPy saves it.
inline Members path_graph() {
  return {{"format", npy("|S3", "()", "csr")},
          {"shape", npy("<i8", "(2,)", raw<std::int64_t>({3, 3}))},
          {"indptr", ints({0, 1, 3, 4})},
          {"indices", ints({1, 0, 2, 1})},
          {"data", doubles({2, 2, 3, 3})}};
}

/// The same graph as a data set of `edges`, with everything; the first masks in Fortran order.
inline Members edges_dataset() {
  return {{"edges", npy("<i8", "(2, 2)", raw<std::int64_t>({0, 1, 1, 2}))},
          {"node_features", npy("<f4", "(3, 2)", raw<float>({1, 2, 3, 4, 5, 6}))},
          {"node_labels", ints({1, 0, -1})},
          {"train_masks", npy("|b1", "(2, 3)", std::string("\1\0\0\1\0\0", 6), true)},
          {"val_masks", npy("|b1", "(2, 3)", std::string("\0\0\1\0\1\0", 6))},
          {"test_masks", npy("|b1", "(2, 3)", std::string("\0\1\0\0\0\1", 6))}};
}

// Pickles, in pieces: what a function returns leaves its value on the stack.

inline std::string pickle(std::string_view body) { return joined({"\x80\x02", body, "."}); }
inline std::string pickled_int(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= 0 && value < 256) return joined({"K", number(bits, 1)});
  if (value >= 0 && value < 65536) return joined({"M", number(bits, 2)});
  return joined({"J", number(bits, 4)});
}
inline std::string pickled_string(std::string_view text) {
  if (text.size() < 256) return joined({"U", number(text.size(), 1), text});
  return joined({"T", number(text.size(), 4), text});
}
inline std::string pickled_global(std::string_view module, std::string_view name) {
  return joined({"c", module, "\n", name, "\n"});
}

inline std::string pickled_dtype(std::string_view name, std::string_view order = "<") {
  const std::string zero = pickled_int(0);
  const std::string minus_one = pickled_int(-1);
  return joined({pickled_global("numpy", "dtype"), pickled_string(name), zero, "K\1\x87R(K\3",
                 pickled_string(order), "NNN", minus_one, minus_one, zero, "tb"});
}

/// An array that has yet to be built.
inline std::string pickled_empty_array() {
  return joined({pickled_global("numpy.core.multiarray", "_reconstruct"),
                 pickled_global("numpy", "ndarray"), pickled_int(0), "\x85U\1b\x87R"});
}

/// An array whose dtype is left on the stack by `dtype`, such as `pickled_dtype("i4")`.
inline std::string pickled_array(const std::vector<std::int64_t>& shape, std::string_view dtype,
                                 std::string_view data, bool fortran_order = false) {
  std::string sizes;
  for (const std::int64_t size : shape) sizes += pickled_int(size);
  return joined({pickled_empty_array(), "(K\1(", sizes, "t", dtype, fortran_order ? "\x88" : "\x89",
                 pickled_string(data), "tb"});
}
inline std::string pickled_ints(const std::vector<std::int64_t>& shape,
                                const std::vector<std::int32_t>& values) {
  return pickled_array(shape, pickled_dtype("i4"), raw(values));
}

/// A csr_matrix; `parts` are names with what leaves their values on the stack.
inline std::string pickled_csr(const std::vector<std::pair<std::string, std::string>>& parts) {
  std::string dict;
  for (const auto& [name, value] : parts) dict += joined({pickled_string(name), value});
  return joined({pickled_global("scipy.sparse.csr", "csr_matrix"), "q\1)\x81q\2}q\3(", dict, "ub"});
}
inline std::string pickled_csr(std::int64_t rows, std::int64_t cols,
                               const std::vector<std::int32_t>& indptr,
                               const std::vector<std::int32_t>& indices,
                               const std::vector<float>& values) {
  const auto length = [](const auto& vector) {
    return std::vector{static_cast<std::int64_t>(vector.size())};
  };
  return pickled_csr({{"format", pickled_string("csr")},
                      {"_shape", joined({pickled_int(rows), pickled_int(cols), "\x86"})},
                      {"indptr", pickled_ints(length(indptr), indptr)},
                      {"_cs_matrix__has_sorted_indices", "\x88"},
                      {"indices", pickled_ints(length(indices), indices)},
                      {"maxprint", pickled_int(50)},
                      {"data", pickled_array(length(values), pickled_dtype("f4"), raw(values))}});
}

inline std::string pickled_graph(const std::vector<std::vector<std::int64_t>>& neighbors) {
  std::string lists;
  for (std::size_t u = 0; u < neighbors.size(); ++u) {
    std::string list;
    for (const std::int64_t v : neighbors[u]) list += pickled_int(v);
    lists += joined({pickled_int(static_cast<std::int64_t>(u)), "]r", number(u + 1, 4),
                     list.empty()               ? ""
                     : neighbors[u].size() == 1 ? joined({list, "a"})
                                                : joined({"(", list, "e"})});
  }
  return joined({pickled_global("collections", "defaultdict"),
                 pickled_global("__builtin__", "list"), "\x85R(", lists, "u"});
}

/// The eight files of a data set of six nodes, 0-1-2-0, 3-4 (and 3-3) and 5, with three features
/// and two classes. Node 4 is in no test.index, so it has neither features nor label.
inline std::map<std::string, std::string> tiny_planetoid() {
  return {{"x", pickle(pickled_csr(1, 3, {0, 1}, {0}, {1}))},
          {"y", pickle(pickled_ints({1, 2}, {1, 0}))},
          {"allx", pickle(pickled_csr(3, 3, {0, 1, 1, 3}, {0, 0, 2}, {1, 0.5F, 2}))},
          {"ally", pickle(pickled_ints({3, 2}, {1, 0, 0, 1, 0, 1}))},
          {"tx", pickle(pickled_csr(2, 3, {0, 1, 2}, {1, 2}, {5, 3}))},
          {"ty", pickle(pickled_ints({2, 2}, {0, 1, 1, 0}))},
          {"graph", pickle(pickled_graph({{1, 2}, {0, 2, 2}, {0, 1}, {4, 3}, {3}, {}}))},
          {"test.index", "5\n3\n"}};
}

/// A safetensors file with this header, its length in front of it.
inline std::string safetensors(const std::string& header, const std::string& data = {}) {
  return joined({number(header.size(), 8), header, data});
}

}  // namespace ngf::test
