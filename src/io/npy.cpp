// The NPY format: "\x93NUMPY", major and minor version, the length of the header (2 bytes in
// version 1, 4 in 2 and 3, little-endian), the header, which is a Python dictionary such as
//   {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
// padded with blanks and a newline to a multiple of 64 bytes, and then the numbers.

#include "io/npy.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>

#include "base/fail.hpp"
#include "io/checks.hpp"

namespace ngf::io {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t preamble_bytes = 12;  // of version 2 and 3; version 1 has two less

// Reads the dictionary of the header, in any order of its keys.
class Dictionary {
 public:
  Dictionary(std::string_view text, std::string_view place) : text_(text), place_(place) {}

  void parse(NpyHeader& header) {
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    take('{');
    while (!next_is('}')) {
      const std::string_view key = string();
      take(':');
      if (key == "descr" && !std::exchange(has_descr, true)) {
        descr(header);
      } else if (key == "fortran_order" && !std::exchange(has_order, true)) {
        header.fortran_order = boolean();
      } else if (key == "shape" && !std::exchange(has_shape, true)) {
        shape(header);
      } else {
        fail("{}: NPY header has the key {}; expected 'descr', 'fortran_order' and 'shape', once",
             place_, quoted(key));
      }
      if (!next_is(',')) {
        if (!next_is('}')) wrong("',' or '}'");
        break;
      }
    }
    if (!has_descr || !has_order || !has_shape) {
      fail("{}: NPY header lacks one of 'descr', 'fortran_order' and 'shape'", place_);
    }
    if (text_.find_first_not_of(" \n") != std::string_view::npos) wrong("nothing more");
  }

 private:
  [[noreturn]] void wrong(std::string_view expected) const {
    fail("{}: NPY header is broken at {}; expected {}", place_, quoted(text_), expected);
  }

  void skip_blanks() {
    text_.remove_prefix(std::min(text_.find_first_not_of(" \n"), text_.size()));
  }

  bool next_is(char wanted) {
    skip_blanks();
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }

  void take(char wanted) {
    if (!next_is(wanted)) wrong(std::string("'") + wanted + "'");
  }

  std::string_view string() {
    skip_blanks();
    const char quote = text_.empty() ? '\0' : text_.front();
    if (quote != '\'' && quote != '"') wrong("a string");
    const std::size_t end = text_.find(quote, 1);
    if (end == std::string_view::npos) wrong("a string");
    const std::string_view value = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return value;
  }

  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.starts_with(word)) {
        text_.remove_prefix(word.size());
        return word == "True";
      }
    }
    wrong("True or False");
  }

  void shape(NpyHeader& header) {
    take('(');
    while (!next_is(')')) {
      skip_blanks();
      std::uint64_t size = 0;
      const auto [end, status] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (status != std::errc()) wrong("a size");
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      next_is('L');  // Python 2 wrote long integers so
      header.shape.push_back(size);
      if (!next_is(',')) {
        if (!next_is(')')) wrong("',' or ')'");
        break;
      }
    }
  }

  // "<f8": byte order, kind, bytes an item; a U counts characters of 4 bytes.
  void descr(NpyHeader& header) {
    skip_blanks();
    if (text_.starts_with('[')) {
      fail("{}: holds records (a structured dtype); save its fields as arrays of their own",
           place_);
    }
    const std::string_view dtype = string();
    const std::string_view order = dtype.substr(0, 1);
    if (order == "|" || order == "<" || order == ">" || order == "=") {
      header.big_endian = order == ">";
      parse_kind(header, dtype.substr(1), dtype);
    } else {
      parse_kind(header, dtype, dtype);
    }
  }

  void parse_kind(NpyHeader& header, std::string_view text, std::string_view dtype) const {
    if (text.starts_with('O')) {
      fail(
          "{}: dtype object holds pickled Python objects, which are never read; save plain numbers",
          place_);
    }
    std::uint64_t size = 0;
    const char* const end = text.data() + text.size();
    const bool whole = text.size() >= 2 && std::from_chars(text.data() + 1, end, size).ptr == end;
    header.kind = whole ? text.front() : '?';
    header.item_bytes = size;
    const bool text_kind = header.kind == 'S' || header.kind == 'U';
    if (header.kind == 'U') header.item_bytes *= 4;
    constexpr std::string_view numbers = " b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 ";
    const bool known = text_kind ? size <= std::numeric_limits<std::uint32_t>::max()
                                 : numbers.find(fmt::format(" {}{} ", header.kind, size)) !=
                                       std::string_view::npos;
    if (!known) {
      fail("{}: dtype {} is not read; save as bool, an integer, float16, float32 or float64",
           place_, quoted(dtype));
    }
  }

  std::string_view text_;
  std::string_view place_;
};

void check_size(const NpyHeader& header, std::uint64_t file_bytes, std::string_view place) {
  const std::uint64_t there = file_bytes - header.data_offset;
  if (header.data_bytes() != there) {
    fail("{}: its header promises {} bytes of {} after byte {}, but {} follow", place,
         header.data_bytes(), header.dtype(), header.data_offset, there);
  }
}

template <typename From>
From load(const char* bytes, bool big_endian) {
  std::array<char, sizeof(From)> raw;
  std::copy_n(bytes, sizeof(From), raw.begin());
  if (big_endian) std::reverse(raw.begin(), raw.end());
  return std::bit_cast<From>(raw);
}

// Calls take(C-order index, value) for all entries, as they lie in the file.
template <typename From, typename Take>
void for_each(const NpyHeader& header, const char* bytes, const Take& take) {
  const std::uint64_t count = header.count();
  if (count == 0) return;  // the other size may be anything
  const bool transposed = header.fortran_order && header.shape.size() == 2;
  const std::uint64_t rows = transposed ? header.shape[0] : 1;
  const std::uint64_t cols = transposed ? header.shape[1] : count;
  for (std::uint64_t j = 0; j < cols; ++j) {
    for (std::uint64_t i = 0; i < rows; ++i) {
      take(i * cols + j, load<From>(bytes, header.big_endian));
      bytes += sizeof(From);
    }
  }
}

// Whether `To`, standing for what the caller asked for (a uint8_t for a bool), holds the value.
template <typename To, typename From>
bool fits(From value) {
  if constexpr (std::is_same_v<To, std::uint8_t>) return value == From{0} || value == From{1};
  if constexpr (std::is_integral_v<To>) return std::in_range<To>(value);
  return true;
}

// Fills `out`, in C order. A value that `To` cannot hold is an Error.
template <typename To>
void convert(const NpyHeader& header, const char* bytes, std::string_view place, To* out) {
  if (header.fortran_order && header.shape.size() > 2) {
    fail("{}: has {} dimensions in Fortran order; at most 2 are read", place, header.shape.size());
  }
  const auto from = [&]<typename From>(From /*tag*/) {
    for_each<From>(header, bytes, [&](std::uint64_t at, From value) {
      if (!fits<To>(value)) fail("{}: entry {} is {}, out of range", place, at, value);
      out[at] = static_cast<To>(value);  // NOLINT(bugprone-signed-char-misuse): a number
    });
  };
  switch (header.kind) {
    case 'b':
      // Any byte but 0 is True to NumPy.
      return for_each<std::uint8_t>(header, bytes, [&](std::uint64_t at, std::uint8_t value) {
        out[at] = static_cast<To>(value != 0);
      });
    case 'i':
      if (header.item_bytes == 1) return from(std::int8_t{});
      if (header.item_bytes == 2) return from(std::int16_t{});
      if (header.item_bytes == 4) return from(std::int32_t{});
      return from(std::int64_t{});
    case 'u':
      if (header.item_bytes == 1) return from(std::uint8_t{});
      if (header.item_bytes == 2) return from(std::uint16_t{});
      if (header.item_bytes == 4) return from(std::uint32_t{});
      return from(std::uint64_t{});
    case 'f':
      if constexpr (std::is_floating_point_v<To>) {
        if (header.item_bytes == 2) {
          return for_each<std::uint16_t>(header, bytes, [&](std::uint64_t at, std::uint16_t half) {
            out[at] = static_cast<To>(Eigen::numext::bit_cast<Eigen::half>(half));
          });
        }
        if (header.item_bytes == 4) return from(float{});
        return from(double{});
      }
      [[fallthrough]];
    default:
      fail("{}: dtype {}, where {} are expected", place, header.dtype(),
           std::is_floating_point_v<To> ? "numbers" : "whole numbers");
  }
}

// Rows and columns of a matrix whose numbers are known to be there.
std::pair<Eigen::Index, Eigen::Index> matrix_shape(const NpyHeader& header,
                                                   std::string_view place) {
  if (header.shape.empty() || header.shape.size() > 2) {
    fail("{}: an array of {} dimensions; expected 1 (a column) or 2", place, header.shape.size());
  }
  const std::uint64_t rows = header.shape[0];
  const std::uint64_t cols = header.shape.size() == 2 ? header.shape[1] : 1;
  constexpr std::uint64_t most = std::numeric_limits<Eigen::Index>::max() / 8;
  if (rows > most || cols > most) fail("{}: {} x {} is no matrix", place, rows, cols);
  return {static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols)};
}

}  // namespace

std::uint64_t NpyHeader::count() const {
  std::uint64_t entries = 1;
  for (const std::uint64_t size : shape) entries *= size;
  return entries;
}

std::uint64_t NpyHeader::data_bytes() const { return count() * item_bytes; }

std::string NpyHeader::dtype() const {
  const char order = item_bytes == 1 || kind == 'S' ? '|' : big_endian ? '>' : '<';
  return fmt::format("{}{}{}", order, kind, kind == 'U' ? item_bytes / 4 : item_bytes);
}

NpyHeader parse_npy_header(std::string_view bytes, std::string_view place) {
  if (!bytes.starts_with(magic)) fail("{}: not an NPY file: its first bytes differ", place);
  const int major = bytes.size() > 6 ? static_cast<unsigned char>(bytes[6]) : 0;
  const int minor = bytes.size() > 7 ? static_cast<unsigned char>(bytes[7]) : 0;
  const bool short_length = major == 1;
  const std::size_t header_at = short_length ? preamble_bytes - 2 : preamble_bytes;
  if (bytes.size() < header_at) fail("{}: ends at byte {}, in the NPY header", place, bytes.size());
  if (major < 1 || major > 3 || minor != 0) {
    fail("{}: NPY version {}.{}; versions 1.0, 2.0 and 3.0 are read", place, major, minor);
  }
  const std::uint64_t length = short_length ? load<std::uint16_t>(bytes.data() + 8, false)
                                            : load<std::uint32_t>(bytes.data() + 8, false);
  if (length > bytes.size() - header_at) {
    fail("{}: NPY header of {} bytes, where only {} are", place, length, bytes.size() - header_at);
  }
  NpyHeader header;
  header.data_offset = header_at + length;
  Dictionary(bytes.substr(header_at, length), place).parse(header);
  // An empty array may have other sizes of any value; none of their products may wrap round.
  std::uint64_t product = std::max<std::uint64_t>(header.item_bytes, 1);
  for (const std::uint64_t size : header.shape) {
    if (__builtin_mul_overflow(product, std::max<std::uint64_t>(size, 1), &product)) {
      fail("{}: NPY header promises more entries than can be counted", place);
    }
  }
  return header;
}

NpyArray::NpyArray(std::string file, std::string place)
    : file_(std::move(file)), place_(std::move(place)), header_(parse_npy_header(file_, place_)) {
  check_size(header_, file_.size(), place_);
}

template <typename To>
std::vector<To> NpyArray::converted() const {
  std::vector<To> values(count());
  convert(header_, file_.data() + header_.data_offset, place_, values.data());
  return values;
}

std::vector<double> NpyArray::to_doubles() const { return converted<double>(); }
std::vector<float> NpyArray::to_floats() const { return converted<float>(); }
std::vector<std::int64_t> NpyArray::to_int64s() const { return converted<std::int64_t>(); }
std::vector<std::uint8_t> NpyArray::to_bools() const { return converted<std::uint8_t>(); }

std::vector<std::uint32_t> NpyArray::to_indices(std::uint64_t bound) const {
  auto values = converted<std::uint32_t>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= bound) {
      fail("{}: entry {} is {}; expected less than {}", place_, i, values[i], bound);
    }
  }
  return values;
}

MatrixF NpyArray::to_matrix() const {
  const auto [rows, cols] = matrix_shape(header_, place_);
  MatrixF matrix(rows, cols);
  convert(header_, file_.data() + header_.data_offset, place_, matrix.data());
  return matrix;
}

std::string NpyArray::to_text() const {
  if ((header_.kind != 'S' && header_.kind != 'U') || count() != 1) {
    fail("{}: dtype {} with {} entries, where a single text is expected", place_, header_.dtype(),
         count());
  }
  std::string text;
  const std::size_t step = header_.kind == 'U' ? 4 : 1;
  for (std::uint64_t at = header_.data_offset; at < file_.size(); at += step) {
    const char letter = file_[at + (header_.big_endian ? step - 1 : 0)];
    if (letter != '\0') text += letter;
  }
  return text;
}

NpyMatrixReader::NpyMatrixReader(const Input& input) : input_(input) {
  // The header says its own length, and no header of an array of numbers is longer than this.
  constexpr std::uint64_t longest_header = 65536;
  header_ = parse_npy_header(input.read_at(0, longest_header), input.name());
  check_size(header_, input.size(), input.name());
  std::tie(rows_, cols_) = matrix_shape(header_, input.name());
}

void NpyMatrixReader::for_each_block(
    const std::function<void(const Matrix& lines, Eigen::Index first, bool transposed)>& visit)
    const {
  if (rows_ == 0 || cols_ == 0) return;  // the other size may be anything
  constexpr std::uint64_t block_bytes = std::uint64_t{1} << 22;
  const bool transposed = header_.fortran_order && header_.shape.size() == 2;
  const Eigen::Index lines = transposed ? cols_ : rows_;
  const Eigen::Index length = transposed ? rows_ : cols_;
  const std::uint64_t line_bytes = static_cast<std::uint64_t>(length) * header_.item_bytes;
  const auto most = static_cast<Eigen::Index>(
      std::max<std::uint64_t>(block_bytes / std::max<std::uint64_t>(line_bytes, 1), 1));
  NpyHeader block = header_;
  block.fortran_order = false;
  Matrix values;
  for (Eigen::Index first = 0; first < lines; first += most) {
    const Eigen::Index count = std::min(most, lines - first);
    block.shape = {static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(length)};
    const std::string bytes =
        input_.read_at(header_.data_offset + static_cast<std::uint64_t>(first) * line_bytes,
                       static_cast<std::uint64_t>(count) * line_bytes);
    values.resize(count, length);
    convert(block, bytes.data(), input_.name(), values.data());
    visit(values, first, transposed);
  }
}

Matrix read_npy_matrix(const Input& input, const MatrixReadOptions& options) {
  const NpyMatrixReader reader(input);
  check_matrix_budget(input, static_cast<std::uint64_t>(reader.rows()),
                      static_cast<std::uint64_t>(reader.cols()), options);
  Matrix matrix(reader.rows(), reader.cols());
  reader.for_each_block([&](const Matrix& lines, Eigen::Index first, bool transposed) {
    if (transposed) {
      matrix.middleCols(first, lines.rows()) = lines.transpose();
    } else {
      matrix.middleRows(first, lines.rows()) = lines;
    }
  });
  return matrix;
}

std::string npy_header(std::string_view dtype, std::span<const std::uint64_t> shape) {
  // (3, 4), and (3,) for one dimension, as Python writes tuples.
  const std::string sizes =
      fmt::format("{}{}", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", dtype, sizes);
  const std::size_t unpadded = preamble_bytes - 2 + text.size() + 1;
  text.append((64 - unpadded % 64) % 64, ' ');
  text += '\n';
  std::string bytes(magic);
  bytes +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return bytes + text;
}

void write_npy(AtomicFile& file, const Matrix& matrix) {
  const std::array<std::uint64_t, 2> shape{static_cast<std::uint64_t>(matrix.rows()),
                                           static_cast<std::uint64_t>(matrix.cols())};
  file.write(npy_header("<f8", shape));
  file.write({reinterpret_cast<const char*>(matrix.data()),
              static_cast<std::size_t>(matrix.size()) * sizeof(double)});
}

}  // namespace ngf::io
