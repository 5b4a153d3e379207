#include "ranks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <set>
#include <utility>

#include "io/npy.hpp"
#include "mpi_plugin.hpp"
#include "standard_streams.hpp"

namespace ngf::cli {

namespace {

int threads_of_rank = 0;

std::unique_ptr<mpi::Session> session;

template <typename Number>
void share(std::vector<Number>& values) {
  values.resize(communicator()->of_first(values.size()));
  communicator()->broadcast(std::as_writable_bytes(std::span(values)));
}

void share(SparseMatrixF& features) {
  features.makeCompressed();
  const std::array<Eigen::Index, 2> shape =
      communicator()->of_first(std::array{features.rows(), features.cols()});
  std::vector<int> rows;
  std::vector<int> columns;
  std::vector<float> values;
  for (Eigen::Index u = 0; u < features.outerSize(); ++u) {
    for (SparseMatrixF::InnerIterator it(features, u); it; ++it) {
      rows.push_back(static_cast<int>(u));
      columns.push_back(static_cast<int>(it.col()));
      values.push_back(it.value());
    }
  }
  share(rows);
  share(columns);
  share(values);
  std::vector<Eigen::Triplet<float>> entries;
  entries.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    entries.emplace_back(rows[i], columns[i], values[i]);
  features.resize(shape[0], shape[1]);
  features.setFromTriplets(entries.begin(), entries.end());
}

void share(MatrixF& features) {
  const std::array<Eigen::Index, 2> shape =
      communicator()->of_first(std::array{features.rows(), features.cols()});
  features.resize(shape[0], shape[1]);
  communicator()->broadcast({reinterpret_cast<std::byte*>(features.data()),
                             static_cast<std::size_t>(features.size()) * sizeof(float)});
}

/// All but the graph.
void share_node_data(Dataset& dataset) {
  const std::size_t kind = communicator()->of_first(dataset.features.index());
  if (kind == 1) {
    if (!speaks()) dataset.features = MatrixF();
    share(std::get<MatrixF>(dataset.features));
  } else if (kind == 2) {
    if (!speaks()) dataset.features = SparseMatrixF();
    share(std::get<SparseMatrixF>(dataset.features));
  }
  share(dataset.labels);
  dataset.splits.resize(communicator()->of_first(dataset.splits.size()));
  for (Split& split : dataset.splits) {
    for (auto* const part : {&split.train, &split.validation, &split.test}) share(*part);
  }
}

}  // namespace

Ranks::Ranks() {
  session = start_mpi();
  if (communicator() == nullptr) return;
  // Only rank 0 prints to stdout. A rank with an error prints it itself.
  if (!speaks()) {
    [[maybe_unused]] const std::FILE* const silent = std::freopen("/dev/null", "w", stdout);
  }
  threads_of_rank = session->threads();
  leave_at_first_signal([] { return session->first_to_tell(); });
}

Ranks::~Ranks() {
  leave_at_first_signal(nullptr);
  session.reset();
}

void Ranks::agree_on(std::span<char* const> arguments) {
  if (communicator() == nullptr) return;
  std::string own = NGF_VERSION;
  for (const char* const argument : arguments) {
    own += '\0';
    own += argument;
  }
  std::vector<std::string> all = communicator()->gather(own);
  const auto other = std::ranges::find_if(all, [&](const auto& text) { return text != all[0]; });
  if (other == all.end()) return;
  // Rank 0 ends the job, so the others wait for it.
  if (!speaks()) communicator()->gather("");
  const auto rank = other - all.begin();
  for (std::string* const text : {&all[0], &*other}) std::ranges::replace(*text, '\0', ' ');
  fail(wrong_usage,
       fmt::format("ngf: rank {} runs 'ngf {}', and rank 0 'ngf {}'; all ranks need the "
                   "same arguments\n",
                   rank, one_line(*other), one_line(all[0])));
}

bool Ranks::take_part_in(const std::string& verb) {
  static const std::set<std::string> together{"shells", "filter",     "features", "train",
                                              "info",   "robustness", "reproduce"};
  return speaks() || together.contains(verb);
}

int Ranks::fail(int exit_code, const std::string& line) {
  if (communicator() != nullptr) {
    if (session->first_to_tell()) write_stderr(line);
    session->abort(exit_code);
  }
  write_stderr(line);
  return exit_code;
}

std::shared_ptr<Communicator> communicator() {
  if (session == nullptr) return nullptr;
  auto all = session->communicator();
  return all->size() > 1 ? all : nullptr;
}

bool speaks() { return communicator() == nullptr || communicator()->rank() == 0; }

bool on_terminal() {
  if (!speaks()) return false;
  if (::isatty(STDERR_FILENO) == 1) return true;
  if (communicator() == nullptr) return false;
  // mpirun takes what is printed from a pipe; where it prints that itself is what counts.
  const std::string path = fmt::format("/proc/{}/fd/2", ::getppid());
  const int file = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return false;
  const bool terminal = ::isatty(file) == 1;
  ::close(file);
  return terminal;
}

int usual_threads() { return threads_of_rank; }

Graph share_graph(const Graph& of_first) {
  return session != nullptr ? session->share(of_first) : of_first;
}

ShardedDataset distribute(const Dataset& of_first, std::uint32_t hops) {
  Arrangement arranged;
  Dataset own;
  if (speaks()) {
    arranged = arrange(of_first.graph, communicator()->size(), hops);
    own = renumber(of_first, arranged.order);
  }
  share(arranged.order);
  share(arranged.begins);
  own.graph = share_graph(own.graph);
  share_node_data(own);
  return {std::move(own), std::make_shared<const Partition>(communicator(), std::move(arranged))};
}

ShardedDataset distribute_graph(const Graph& of_first, std::uint32_t hops) {
  Dataset alone;
  alone.graph = of_first;
  return distribute(alone, hops);
}

Matrix own_rows(const Matrix& all, const Partition& partition) {
  const RowRange own = partition.own();
  Matrix result(own.count(), all.cols());
  for (NodeId row = 0; row < own.count(); ++row) {
    result.row(row) = all.row(partition.old_number(own.begin + row));
  }
  return result;
}

std::vector<std::uint32_t> sharded_groups(const std::vector<std::uint32_t>& group_of,
                                          const Partition& partition) {
  std::vector<std::uint32_t> result(group_of.size());
  for (NodeId u = 0; u < result.size(); ++u) result[u] = group_of[partition.old_number(u)];
  return result;
}

void write_rows(const std::filesystem::path& path, const std::string& header, std::size_t row_bytes,
                const Partition& partition,
                const std::function<void(NodeId node, std::byte* to)>& fill) {
  std::vector<std::pair<std::uint64_t, NodeId>> rows;
  for (NodeId u = partition.own().begin; u < partition.own().end; ++u)
    rows.emplace_back(partition.old_number(u), u);
  std::sort(rows.begin(), rows.end());
  std::vector<std::uint64_t> numbers;
  numbers.reserve(rows.size());
  for (const auto& [number, u] : rows) numbers.push_back(number);
  session->write_rows(path, header, row_bytes, numbers,
                      [&](std::size_t i, std::byte* to) { fill(rows[i].second, to); });
}

template <typename Real>
void write_npy_rows(const std::filesystem::path& path, const SignalsOf<Real>& own,
                    const Partition& partition) {
  const std::array<std::uint64_t, 2> shape{partition.nodes(),
                                           static_cast<std::uint64_t>(own.cols())};
  const std::size_t row_bytes = static_cast<std::size_t>(own.cols()) * sizeof(Real);
  write_rows(path, io::npy_header(sizeof(Real) == 4 ? "<f4" : "<f8", shape), row_bytes, partition,
             [&](NodeId u, std::byte* to) {
               std::memcpy(to, own.row(u - partition.own().begin).data(), row_bytes);
             });
}

template <typename Real>
SignalsOf<Real> all_rows(const SignalsOf<Real>& own, const Partition& partition) {
  const SignalsOf<Real> sharded = gathered<Real>(partition, own);
  SignalsOf<Real> all(sharded.rows(), sharded.cols());
  for (NodeId u = 0; u < partition.nodes(); ++u) all.row(partition.old_number(u)) = sharded.row(u);
  return all;
}

template void write_npy_rows(const std::filesystem::path&, const SignalsOf<float>&,
                             const Partition&);
template void write_npy_rows(const std::filesystem::path&, const SignalsOf<double>&,
                             const Partition&);
template SignalsOf<float> all_rows(const SignalsOf<float>&, const Partition&);
template SignalsOf<double> all_rows(const SignalsOf<double>&, const Partition&);

Json by_rank(const Partition& partition, std::uint64_t pairs, std::uint64_t bytes) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto peak = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  const Json own{{"rank", partition.communicator().rank()},
                 {"nodes", partition.own().count()},
                 {"pairs", pairs},
                 {"bytes", bytes},
                 {"peak_bytes", peak}};
  Json all = Json::array();
  for (const std::string& text : partition.communicator().gather(own.dump()))
    all.push_back(Json::parse(text));
  return all;
}

}  // namespace ngf::cli
