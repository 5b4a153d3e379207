#include "mpi_communicator.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "base/fail.hpp"
#include "base/parallel.hpp"

namespace ngf::mpi {

namespace {

using detail::fail;

constexpr auto most_items = static_cast<std::uint64_t>(std::numeric_limits<int>::max());

/// MPI counts items, and takes no more than an int holds.
int as_count(std::uint64_t items) {
  if (items > most_items) fail("{} items are more than MPI sends at once; take more ranks", items);
  return static_cast<int>(items);
}

/// An MPI datatype of `bytes` bytes, since counts of bytes may exceed an int.
class Item {
 public:
  explicit Item(std::size_t bytes) {
    MPI_Type_contiguous(as_count(bytes), MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
  }
  Item(const Item&) = delete;
  Item& operator=(const Item&) = delete;
  ~Item() { MPI_Type_free(&type_); }

  MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// What a gather needs until it is done.
class Gathering : public Communicator::Pending {
 public:
  Gathering(MPI_Comm communicator, std::byte* all, std::size_t row_bytes,
            std::span<const NodeId> begins)
      : row_(row_bytes) {
    for (std::size_t q = 0; q + 1 < begins.size(); ++q) {
      counts_.push_back(as_count(begins[q + 1] - begins[q]));
      places_.push_back(as_count(begins[q]));
    }
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts_.data(), places_.data(),
                    row_.type(), communicator, &request_);
  }
  ~Gathering() override { finish(); }
  void wait() override { finish(); }

 private:
  void finish() {
    // What it waits for began in the constructor.
    // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker)
    if (request_ != MPI_REQUEST_NULL) MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

  Item row_;
  std::vector<int> counts_;
  std::vector<int> places_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

MpiCommunicator::MpiCommunicator(MPI_Comm communicator) {
  MPI_Comm_dup(communicator, &communicator_);
  MPI_Comm_rank(communicator_, &rank_);
  MPI_Comm_size(communicator_, &size_);
  MPI_Comm_split_type(communicator_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine_);
  int on_machine = 0;
  MPI_Comm_rank(machine_, &on_machine);
  MPI_Comm_split(communicator_, on_machine == 0 ? 0 : MPI_UNDEFINED, rank_, &firsts_);
}

MpiCommunicator::~MpiCommunicator() {
  for (MPI_Win& window : windows_) MPI_Win_free(&window);
  if (firsts_ != MPI_COMM_NULL) MPI_Comm_free(&firsts_);
  MPI_Comm_free(&machine_);
  MPI_Comm_free(&communicator_);
}

int MpiCommunicator::threads() const {
  const int own = detail::processor_count();
  const auto there = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  int wanted = 0;
  int processes = 0;
  MPI_Allreduce(&own, &wanted, 1, MPI_INT, MPI_SUM, machine_);
  MPI_Comm_size(machine_, &processes);
  return wanted <= there ? own : std::max(1, there / processes);
}

std::unique_ptr<Communicator::Pending> MpiCommunicator::begin_gather(
    std::byte* all, std::size_t row_bytes, std::span<const NodeId> begins) {
  return std::make_unique<Gathering>(communicator_, all, row_bytes, begins);
}

void MpiCommunicator::exchange(const std::byte* from, std::byte* to, std::size_t piece_bytes) {
  const Item piece(piece_bytes);
  MPI_Alltoall(from, 1, piece.type(), to, 1, piece.type(), communicator_);
}

void MpiCommunicator::broadcast(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t count = std::min<std::size_t>(bytes.size(), most_items);
    MPI_Bcast(bytes.data(), as_count(count), MPI_BYTE, 0, communicator_);
    bytes = bytes.subspan(count);
  }
}

std::byte* MpiCommunicator::shared_memory(std::uint64_t bytes) {
  int on_machine = 0;
  MPI_Comm_rank(machine_, &on_machine);
  const auto own = static_cast<MPI_Aint>(on_machine == 0 ? std::max<std::uint64_t>(bytes, 1) : 0);
  void* base = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate_shared(own, 1, MPI_INFO_NULL, machine_, static_cast<void*>(&base), &window);
  windows_.push_back(window);
  MPI_Aint size = 0;
  int unit = 0;
  MPI_Win_shared_query(window, 0, &size, &unit, static_cast<void*>(&base));
  if (on_machine == 0) std::memset(base, 0, static_cast<std::size_t>(own));
  MPI_Barrier(machine_);
  return static_cast<std::byte*>(base);
}

Graph MpiCommunicator::share(const Graph& of_first) {
  struct Sizes {
    std::uint64_t offsets, targets, weights, self_loops;
    bool directed;
  };
  const Sizes sizes = Communicator::of_first(
      Sizes{of_first.offsets().size(), of_first.targets().size(), of_first.weights().size(),
            of_first.self_loops(), of_first.directed()});
  // Weights first, then what needs less alignment.
  const std::uint64_t weight_bytes = sizes.weights * sizeof(double);
  const std::uint64_t offset_bytes = sizes.offsets * sizeof(std::uint64_t);
  const std::uint64_t target_bytes = sizes.targets * sizeof(NodeId);
  const std::uint64_t bytes = weight_bytes + offset_bytes + target_bytes;
  std::byte* const memory = shared_memory(bytes);
  auto* const weights = reinterpret_cast<double*>(memory);
  auto* const offsets = reinterpret_cast<std::uint64_t*>(memory + weight_bytes);
  auto* const targets = reinterpret_cast<NodeId*>(memory + weight_bytes + offset_bytes);
  if (rank_ == 0) {
    std::ranges::copy(of_first.weights(), weights);
    std::ranges::copy(of_first.offsets(), offsets);
    std::ranges::copy(of_first.targets(), targets);
  }
  if (firsts_ != MPI_COMM_NULL) {
    for (std::uint64_t sent = 0; sent < bytes; sent += most_items) {
      MPI_Bcast(memory + sent, as_count(std::min(most_items, bytes - sent)), MPI_BYTE, 0, firsts_);
    }
  }
  MPI_Barrier(machine_);
  // The graph does not own the memory: the communicator's window does.
  return {{{offsets, sizes.offsets},
           {targets, sizes.targets},
           {weights, sizes.weights},
           sizes.self_loops,
           sizes.directed},
          nullptr};
}

}  // namespace ngf::mpi
