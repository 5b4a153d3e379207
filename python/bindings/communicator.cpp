// A communicator that calls functions of Python (mpi4py's), so that the module needs no MPI itself.

#include <nanobind/stl/shared_ptr.h>

#include <numeric>

#include "arrays.hpp"
#include "bindings.hpp"
#include "ngf/partition.hpp"
#include "work.hpp"

namespace ngf::python {

namespace {

/// Bytes of the engine, for Python to read and write until a call is over.
nb::object bytes_at(const std::byte* at, std::size_t count) {
  static char nothing = 0;
  char* const first = count == 0 ? &nothing : reinterpret_cast<char*>(const_cast<std::byte*>(at));
  return nb::steal(PyMemoryView_FromMemory(first, static_cast<Py_ssize_t>(count), PyBUF_WRITE));
}

/// gather(all, row_bytes, begins) begins, and returns what is called to wait; exchange(from, to,
/// piece_bytes) and broadcast(bytes) are as in Communicator.
class PythonCommunicator : public Communicator {
 public:
  PythonCommunicator(int rank, int size, nb::callable gather, nb::callable exchange,
                     nb::callable broadcast)
      : rank_(rank),
        size_(size),
        gather_(std::move(gather)),
        exchange_(std::move(exchange)),
        broadcast_(std::move(broadcast)) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::unique_ptr<Pending> begin_gather(std::byte* all, std::size_t row_bytes,
                                        std::span<const NodeId> begins) override {
    const nb::gil_scoped_acquire gil;
    nb::list list;
    for (const NodeId begin : begins) list.append(begin);
    return std::make_unique<Waiting>(
        gather_(bytes_at(all, begins.back() * row_bytes), row_bytes, list));
  }
  void exchange(const std::byte* from, std::byte* to, std::size_t piece_bytes) override {
    const nb::gil_scoped_acquire gil;
    const std::size_t all = piece_bytes * static_cast<std::size_t>(size_);
    exchange_(bytes_at(from, all), bytes_at(to, all), piece_bytes);
  }
  void broadcast(std::span<std::byte> bytes) override {
    const nb::gil_scoped_acquire gil;
    broadcast_(bytes_at(bytes.data(), bytes.size()));
  }

 private:
  class Waiting : public Pending {
   public:
    explicit Waiting(nb::object wait) : wait_(std::move(wait)) {}
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() override {
      const nb::gil_scoped_acquire gil;
      wait_.reset();
    }
    void wait() override {
      const nb::gil_scoped_acquire gil;
      if (wait_.is_valid()) nb::object(std::move(wait_))();
    }

   private:
    nb::object wait_;
  };

  int rank_;
  int size_;
  nb::callable gather_;
  nb::callable exchange_;
  nb::callable broadcast_;
};

}  // namespace

void bind_communicator(nb::module_& m) {
  nb::class_<PythonCommunicator>(m, "Communicator")
      .def(nb::init<int, int, nb::callable, nb::callable, nb::callable>());
  nb::class_<Partition>(m, "Partition")
      .def("__init__", [](Partition* self, std::shared_ptr<PythonCommunicator> communicator,
                          const List<NodeId>& order, const List<NodeId>& begins) {
        new (self) Partition(std::move(communicator), {vector_of(order), vector_of(begins)});
      });
  m.def("arrange", [](const Graph& graph, int ranks, std::uint32_t hops) {
    Arrangement arranged = without_gil([&](Progress*) { return arrange(graph, ranks, hops); });
    return nb::make_tuple(array_of(std::move(arranged.order)),
                          array_of(std::move(arranged.begins)));
  });
  m.def("renumber", [](const Graph& graph, const List<NodeId>& order) {
    return without_gil(
        [&](Progress*) { return renumber(graph, std::span(order.data(), order.size())); });
  });
}

}  // namespace ngf::python
