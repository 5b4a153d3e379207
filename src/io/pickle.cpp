// A pickle is a program for a machine with a stack, a list of marks in it, and a memo of values to
// use again. PickleMachine knows the 28 opcodes that Planetoid's files consist of. REDUCE, NEWOBJ
// and BUILD, by which a pickle calls what it names, do here what six names need and no more:
//
//   collections.defaultdict(list)                           an empty dictionary
//   numpy.dtype('i4'|'f4', 0, 1)     BUILD (3, '<', ...)    4-byte numbers, little-endian
//   numpy...._reconstruct(ndarray, (0,), 'b')  BUILD (1, shape, dtype, False, bytes)   an array
//   scipy.sparse.csr.csr_matrix()    BUILD {'_shape': ..., 'indptr': ..., ...}         a matrix

#include "io/pickle.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/fail.hpp"

namespace ngf::io {

namespace {

constexpr unsigned char stop_op = '.';

enum Global : std::uint32_t { csr_matrix, reconstruct, ndarray, dtype, defaultdict, list };

// In the order of the numbers above.
constexpr std::array<std::string_view, 6> global_names{"scipy.sparse.csr.csr_matrix",
                                                       "numpy.core.multiarray._reconstruct",
                                                       "numpy.ndarray",
                                                       "numpy.dtype",
                                                       "collections.defaultdict",
                                                       "__builtin__.list"};

constexpr std::array<std::string_view, 11> kind_names{
    "None",    "a bool",   "a whole number", "a string",
    "a tuple", "a list",   "a dictionary",   "a class or function",
    "a dtype", "an array", "a csr_matrix"};

template <typename T>
std::vector<T> numbers(std::string_view bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::string_view kind_name(Pickle::Kind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

}  // namespace

class PickleMachine {
 public:
  explicit PickleMachine(Pickle& pickle)
      : pickle_(pickle), bytes_(pickle.bytes_), nodes_(pickle.nodes_) {
    nodes_ = {{Kind::none}, {Kind::boolean, 1}, {Kind::boolean, 0}, {Kind::tuple}};
    pickle_.cells_ = {{0, 0}};
  }

  void run() {
    do {
      opcode_at_ = at_;
      opcode_ = static_cast<unsigned char>(take(1)[0]);
      step();
    } while (opcode_ != stop_op);
    if (at_ != bytes_.size()) wrong("ends, but {} bytes follow", bytes_.size() - at_);
  }

 private:
  using Ref = Pickle::Ref;
  using Kind = Pickle::Kind;
  using Node = Pickle::Node;

  // Values that are used again and again are there from the start.
  static constexpr Ref none = 0;
  static constexpr Ref true_value = 1;
  static constexpr Ref false_value = 2;
  static constexpr Ref empty_tuple = 3;
  static constexpr Ref unset = std::numeric_limits<Ref>::max();

  template <typename... Args>
  [[noreturn]] void wrong(fmt::format_string<Args...> text, Args&&... args) const {
    fail("{}: byte {}: the pickle {}", pickle_.name_, opcode_at_,
         fmt::format(text, std::forward<Args>(args)...));
  }

  using Operation = void (*)(PickleMachine&);

  // By opcode; null where this format does not need it.
  static constexpr std::array<Operation, 256> make_operations() {
    using Machine = PickleMachine;
    std::array<Operation, 256> table{};
    table[0x80] = [](Machine& m) { m.check_protocol(m.take_number(1)); };         // PROTO
    table[stop_op] = [](Machine& m) { m.stop(); };                                // STOP
    table['('] = [](Machine& m) { m.marks_.push_back(m.stack_.size()); };         // MARK
    table['c'] = [](Machine& m) { m.push_global(); };                             // GLOBAL
    table['R'] = [](Machine& m) { m.reduce(); };                                  // REDUCE
    table[0x81] = [](Machine& m) { m.new_object(); };                             // NEWOBJ
    table['b'] = [](Machine& m) { m.build(); };                                   // BUILD
    table['q'] = [](Machine& m) { m.put(m.take_number(1)); };                     // BINPUT
    table['r'] = [](Machine& m) { m.put(m.take_number(4)); };                     // LONG_BINPUT
    table['h'] = [](Machine& m) { m.get(m.take_number(1)); };                     // BINGET
    table['a'] = [](Machine& m) { m.extend(Kind::list, 1); };                     // APPEND
    table['e'] = [](Machine& m) { m.extend(Kind::list, m.above_mark()); };        // APPENDS
    table['u'] = [](Machine& m) { m.extend(Kind::dict, m.pairs_above_mark()); };  // SETITEMS
    table['N'] = [](Machine& m) { m.stack_.push_back(none); };                    // NONE
    table[0x88] = [](Machine& m) { m.stack_.push_back(true_value); };             // NEWTRUE
    table[0x89] = [](Machine& m) { m.stack_.push_back(false_value); };            // NEWFALSE
    table['J'] = [](Machine& m) { m.push({Kind::integer, m.take_number(4)}); };   // BININT
    table['K'] = [](Machine& m) { m.push({Kind::integer, m.take_number(1)}); };   // BININT1
    table['M'] = [](Machine& m) { m.push({Kind::integer, m.take_number(2)}); };   // BININT2
    table['U'] = [](Machine& m) { m.push_string(m.take_number(1)); };             // SHORT_BINSTRING
    table['T'] = [](Machine& m) { m.push_string(m.take_number(4)); };             // BINSTRING
    table[')'] = [](Machine& m) { m.stack_.push_back(empty_tuple); };             // EMPTY_TUPLE
    table[0x85] = [](Machine& m) { m.push_tuple(1); };                            // TUPLE1
    table[0x86] = [](Machine& m) { m.push_tuple(2); };                            // TUPLE2
    table[0x87] = [](Machine& m) { m.push_tuple(3); };                            // TUPLE3
    table['t'] = [](Machine& m) { m.push_tuple(m.above_mark()); };                // TUPLE
    table[']'] = [](Machine& m) { m.push({Kind::list}); };                        // EMPTY_LIST
    table['}'] = [](Machine& m) { m.push({Kind::dict}); };                        // EMPTY_DICT
    return table;
  }

  void step() {
    static constexpr std::array<Operation, 256> operations = make_operations();
    if (operations[opcode_] == nullptr) {
      wrong("has the opcode 0x{:02x}, which this format does not need: refused", opcode_);
    }
    operations[opcode_](*this);
  }

  void check_protocol(std::uint32_t version) const {
    if (version != 2) wrong("has protocol {}; only 2 is read", version);
  }

  void stop() {
    pickle_.root_ = pop();
    if (!stack_.empty() || !marks_.empty()) wrong("ends with unfinished values");
  }

  std::string_view take(std::size_t length) {
    if (length > bytes_.size() - at_) {
      wrong("is cut off: {} more bytes are needed, {} are there", length, bytes_.size() - at_);
    }
    at_ += length;
    return bytes_.substr(at_ - length, length);
  }

  std::uint32_t take_number(std::size_t length) {
    std::uint32_t number = 0;
    const std::string_view little_endian = take(length);
    std::memcpy(&number, little_endian.data(), length);
    return number;
  }

  std::string_view take_line() {
    const std::string_view line = take(std::min(bytes_.find('\n', at_), bytes_.size()) - at_);
    take(1);
    return line;
  }

  void push(const Node& node) {
    stack_.push_back(static_cast<Ref>(nodes_.size()));
    nodes_.push_back(node);
  }

  void push_string(std::uint32_t length) {
    const auto begin = static_cast<std::uint32_t>(at_);
    take(length);
    push({Kind::string, begin, length});
  }

  void push_global() {
    const std::string_view module = take_line();
    const std::string_view name = take_line();
    const std::string full = std::string(module).append(".").append(name);
    const auto* const known = std::find(global_names.begin(), global_names.end(), full);
    if (known == global_names.end()) {
      wrong("names {}, which this format does not need: refused", quoted(full));
    }
    push({Kind::global, static_cast<std::uint32_t>(known - global_names.begin())});
  }

  // Values on the stack above the last mark, which is removed.
  std::size_t above_mark() {
    if (marks_.empty()) wrong("uses a mark that is not there");
    const std::size_t count = stack_.size() - marks_.back();
    marks_.pop_back();
    return count;
  }

  std::size_t pairs_above_mark() {
    const std::size_t count = above_mark();
    if (count % 2 != 0) wrong("sets a key without a value");
    return count;
  }

  // Values below a mark are out of reach until it is removed.
  void need_on_stack(std::size_t count) const {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() - floor < count) wrong("takes a value that is not there");
  }

  Ref pop() {
    need_on_stack(1);
    const Ref value = stack_.back();
    stack_.pop_back();
    return value;
  }

  Ref top() const {
    need_on_stack(1);
    return stack_.back();
  }

  // Moves the topmost values, in their order, to the end of a container.
  void move_into(Ref container, std::size_t count) {
    auto& cells = pickle_.cells_;
    for (std::size_t i = stack_.size() - count; i < stack_.size(); ++i) {
      const auto cell = static_cast<std::uint32_t>(cells.size());
      cells.push_back({stack_[i], 0});
      Node& node = nodes_[container];
      (node.a == 0 ? node.a : cells[node.b].next) = cell;
      node.b = cell;
    }
    stack_.resize(stack_.size() - count);
  }

  void push_tuple(std::size_t count) {
    need_on_stack(count);
    const auto tuple = static_cast<Ref>(nodes_.size());
    nodes_.push_back({Kind::tuple});
    move_into(tuple, count);
    stack_.push_back(tuple);
  }

  void extend(Kind kind, std::size_t count) {
    need_on_stack(count + 1);
    const Ref container = stack_[stack_.size() - count - 1];
    if (nodes_[container].kind != kind) {
      wrong("puts a value into {}; expected {}", kind_name(nodes_[container].kind),
            kind_name(kind));
    }
    move_into(container, count);
  }

  void put(std::uint32_t slot) {
    // Slots are given in order, one to a value at most.
    if (slot > bytes_.size()) wrong("uses memo slot {}, too large for the file", slot);
    if (slot >= memo_.size()) memo_.resize(slot + std::size_t{1}, unset);
    memo_[slot] = top();
  }

  void get(std::uint32_t slot) {
    if (slot >= memo_.size() || memo_[slot] == unset) wrong("uses memo slot {}, never set", slot);
    stack_.push_back(memo_[slot]);
  }

  bool is_global(Ref value, Global which) const {
    return nodes_[value].kind == Kind::global && nodes_[value].a == which;
  }
  bool is_integer(Ref value, std::uint32_t number) const {
    return nodes_[value].kind == Kind::integer && nodes_[value].a == number;
  }
  bool is_string(Ref value, std::string_view text) const {
    const Node& node = nodes_[value];
    return node.kind == Kind::string && bytes_.substr(node.a, node.b) == text;
  }
  std::vector<Ref> tuple_items(Ref value) const {
    if (nodes_[value].kind != Kind::tuple)
      wrong("passes {}, not a tuple", kind_name(nodes_[value].kind));
    return pickle_.items(value, Kind::tuple, "");
  }

  void reduce() {
    const auto arguments = tuple_items(pop());
    const Ref function = pop();
    const std::size_t count = arguments.size();
    if (is_global(function, defaultdict) && count == 1 && is_global(arguments[0], list)) {
      return push({Kind::dict});
    }
    if (is_global(function, reconstruct) && count == 3 && is_global(arguments[0], ndarray)) {
      return push({Kind::ndarray});
    }
    if (is_global(function, dtype) && count == 3 && is_integer(arguments[1], 0) &&
        is_integer(arguments[2], 1)) {
      for (const char letter : {'i', 'f'}) {
        const std::array<char, 2> name{letter, '4'};
        if (is_string(arguments[0], {name.data(), name.size()})) {
          return push({Kind::dtype, static_cast<std::uint32_t>(letter)});
        }
      }
      wrong("has a dtype other than 'i4' and 'f4': refused");
    }
    refuse_call(function);
  }

  void new_object() {
    const auto arguments = tuple_items(pop());
    const Ref type = pop();
    if (!is_global(type, csr_matrix) || !arguments.empty()) refuse_call(type);
    push({Kind::csr});
  }

  [[noreturn]] void refuse_call(Ref function) const {
    const Node& node = nodes_[function];
    wrong("calls {} in a way that this format does not need: refused",
          node.kind == Kind::global ? global_names[node.a] : kind_name(node.kind));
  }

  // Gives the topmost value as state to the one below it. Whether an array's or a matrix's state
  // makes sense is looked at when it is used.
  void build() {
    const Ref state = pop();
    Node& object = nodes_[top()];
    const Kind kind = nodes_[state].kind;
    if (object.kind == Kind::dtype && kind == Kind::tuple) {
      const auto parts = tuple_items(state);
      if (parts.size() != 8 || !is_integer(parts[0], 3) || !is_string(parts[1], "<")) {
        wrong("has a dtype that is not little-endian numbers: refused");
      }
      object.b = 1;
    } else if ((object.kind == Kind::ndarray && kind == Kind::tuple) ||
               (object.kind == Kind::csr && kind == Kind::dict)) {
      object.a = state;
    } else {
      wrong("builds {} from {}, which this format does not need: refused", kind_name(object.kind),
            kind_name(kind));
    }
  }

  Pickle& pickle_;
  std::string_view bytes_;
  std::vector<Node>& nodes_;
  std::size_t at_ = 0;         // the next byte
  std::size_t opcode_at_ = 0;  // where the opcode that runs now is
  unsigned char opcode_ = 0;
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;
  std::vector<Ref> memo_;
};

Pickle::Pickle(const Input& input) : name_(input.name()) {
  if (input.size() > std::numeric_limits<std::uint32_t>::max()) {
    fail("{}: a pickle of {} bytes; at most 4 GB are read", name_, input.size());
  }
  bytes_ = input.read_all();
  PickleMachine(*this).run();
}

void Pickle::need(Ref value, Kind wanted, std::string_view what) const {
  if (kind(value) != wanted) {
    fail("{}: {} is {}; expected {}", name_, what, kind_name(kind(value)), kind_name(wanted));
  }
}

std::int64_t Pickle::integer(Ref value, std::string_view what) const {
  need(value, Kind::integer, what);
  return static_cast<std::int32_t>(nodes_[value].a);
}

std::string_view Pickle::string(Ref value, std::string_view what) const {
  need(value, Kind::string, what);
  return std::string_view(bytes_).substr(nodes_[value].a, nodes_[value].b);
}

std::vector<Pickle::Ref> Pickle::items(Ref value, Kind wanted, std::string_view what) const {
  need(value, wanted, what);
  std::vector<Ref> values;
  for (std::uint32_t cell = nodes_[value].a; cell != 0; cell = cells_[cell].next) {
    values.push_back(cells_[cell].value);
  }
  return values;
}

std::vector<std::int32_t> Pickle::Array::ints() const { return numbers<std::int32_t>(bytes); }
std::vector<float> Pickle::Array::floats() const { return numbers<float>(bytes); }

Pickle::Array Pickle::array(Ref value, char letter, std::string_view what) const {
  need(value, Kind::ndarray, what);
  const Ref state = nodes_[value].a;
  need(state, Kind::tuple, what);
  const auto parts = items(state, Kind::tuple, what);
  if (parts.size() != 5 || integer(parts[0], what) != 1) {
    fail("{}: {} is an array of another version of NumPy's pickles", name_, what);
  }
  Array array;
  std::uint64_t bytes = 4;
  for (const Ref part : items(parts[1], Kind::tuple, what)) {
    const std::int64_t size = integer(part, what);
    if (size < 0) fail("{}: {} has the negative size {}", name_, what, size);
    array.shape.push_back(static_cast<std::uint64_t>(size));
    if (__builtin_mul_overflow(bytes, array.shape.back(), &bytes)) {
      fail("{}: {} has more entries than can be counted", name_, what);
    }
  }
  need(parts[2], Kind::dtype, what);
  const Node& dtype_node = nodes_[parts[2]];
  if (dtype_node.a != static_cast<std::uint32_t>(letter) || dtype_node.b == 0) {
    fail("{}: {} is an array of {}4; expected <{}4", name_, what, static_cast<char>(dtype_node.a),
         letter);
  }
  need(parts[3], Kind::boolean, what);
  if (nodes_[parts[3]].a != 0) fail("{}: {} is in Fortran order; expected C order", name_, what);
  array.bytes = string(parts[4], what);
  if (array.bytes.size() != bytes) {
    fail("{}: {} has the shape ({}), which takes {} bytes, but {} are there", name_, what,
         fmt::join(array.shape, ", "), bytes, array.bytes.size());
  }
  return array;
}

Pickle::Ref Pickle::entry(const std::vector<Ref>& dict, std::string_view key,
                          std::string_view what) const {
  for (std::size_t i = 0; i < dict.size(); i += 2) {
    if (kind(dict[i]) == Kind::string && string(dict[i], what) == key) return dict[i + 1];
  }
  fail("{}: {} has no {}", name_, what, key);
}

Pickle::Sparse Pickle::sparse(Ref value, std::string_view what) const {
  need(value, Kind::csr, what);
  const auto dict = items(nodes_[value].a, Kind::dict, what);
  const auto shape = items(entry(dict, "_shape", what), Kind::tuple, "_shape");
  if (shape.size() != 2) fail("{}: {} has {} dimensions; expected 2", name_, what, shape.size());
  const std::int64_t rows = integer(shape[0], "_shape");
  const std::int64_t cols = integer(shape[1], "_shape");
  if (rows < 0 || cols < 0) fail("{}: {} has the shape ({}, {})", name_, what, rows, cols);
  const auto indptr = array(entry(dict, "indptr", what), 'i', "indptr").ints();
  const auto indices = array(entry(dict, "indices", what), 'i', "indices").ints();
  Sparse sparse;
  sparse.values = array(entry(dict, "data", what), 'f', "data").floats();
  sparse.csr.rows = static_cast<std::uint64_t>(rows);
  sparse.csr.cols = static_cast<std::uint64_t>(cols);
  sparse.csr.indptr.assign(indptr.begin(), indptr.end());
  for (const std::int32_t index : indices) {
    if (index < 0 || index >= cols) {
      fail("{}: {} has the column {}; expected 0..{}", name_, what, index, cols - 1);
    }
    sparse.csr.indices.push_back(static_cast<std::uint32_t>(index));
  }
  check_csr(sparse.csr, name_);
  if (sparse.values.size() != indices.size()) {
    fail("{}: {} has {} values for {} indices", name_, what, sparse.values.size(), indices.size());
  }
  return sparse;
}

}  // namespace ngf::io
