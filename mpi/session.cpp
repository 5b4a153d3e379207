#include "session.hpp"

#include <atomic>
#include <cstdlib>

#include "mpi_communicator.hpp"

namespace ngf::mpi {

namespace {

class MpiSession : public Session {
 public:
  MpiSession() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    communicator_ = std::make_shared<MpiCommunicator>(MPI_COMM_WORLD);
    told_ = reinterpret_cast<int*>(communicator_->shared_memory(sizeof(int)));
    // MPI makes connections when they are first used; that belongs to the start, not to the work.
    communicator_->largest(0);
  }
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  ~MpiSession() override {
    communicator_.reset();
    MPI_Finalize();
  }

  std::shared_ptr<Communicator> communicator() override { return communicator_; }
  int threads() const override { return communicator_->threads(); }
  Graph share(const Graph& of_first) override { return communicator_->share(of_first); }

  void write_rows(const std::filesystem::path& path, const std::string& header,
                  std::size_t row_bytes, const std::vector<std::uint64_t>& numbers,
                  const std::function<void(std::size_t i, std::byte* to)>& fill) override {
    RowFile file(*communicator_, path, header, row_bytes);
    std::size_t next = 0;
    file.write(numbers, [&](std::uint64_t /*number*/, std::byte* to) { fill(next++, to); });
    file.commit();
  }

  bool first_to_tell() noexcept override { return std::atomic_ref(*told_).exchange(1) == 0; }

  [[noreturn]] void abort(int exit_code) override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
  }

 private:
  std::shared_ptr<MpiCommunicator> communicator_;
  int* told_ = nullptr;  // on memory that processes share
};

}  // namespace

}  // namespace ngf::mpi

extern "C" ngf::mpi::Session* ngf_start_mpi() { return new ngf::mpi::MpiSession; }
