// denoise_bench FOLDER: times the decoder of the paper's test case 1, x^ = max(H C, 0) v with
// C of 256 x 150, and prints rows as JSON. What another program needs to do the same goes to
// FOLDER: H.npy, A.npy (the adjacency matrix) and taps.npy, which H is made of, Y.npy (noisy
// signals), C.npy (where the decoder starts) and X.npy, the outputs after some epochs of the first
// signals.

#include <cmath>

#include "base/parallel.hpp"
#include "ngf/io/write.hpp"
#include "ngf/random.hpp"
#include "ngf/tasks/denoise_cases.hpp"
#include "nn/decoder.hpp"
#include "program.hpp"
#include "tasks/fitter.hpp"

namespace {

using namespace ngf;

constexpr std::size_t signals = 200;
constexpr std::int64_t features = 150;
constexpr std::uint32_t epochs = 1000;
constexpr std::uint32_t checked_epochs = 20;
constexpr Eigen::Index checked_signals = 3;

/// The outputs after some epochs, from the start that is written beside them.
void write_check(const std::filesystem::path& folder, const DenoiseCase& data) {
  const LayerFilter filter(PolynomialFilter(data.graph, paper_taps()));
  const auto nodes = static_cast<Eigen::Index>(data.graph.nodes());
  const Matrix identity = Matrix::Identity(nodes, nodes);
  const std::vector<double> taps = paper_taps();
  io::write_matrix(folder / "H.npy", filter.apply(identity));
  io::write_matrix(folder / "A.npy", ShiftOperator(data.graph, Shift::adjacency).apply(identity));
  io::write_matrix(
      folder / "taps.npy",
      Eigen::Map<const Matrix>(taps.data(), static_cast<Eigen::Index>(taps.size()), 1));
  io::write_matrix(folder / "Y.npy", data.noisy);
  Random random(1);
  MatrixF start(nodes, features);
  for (Eigen::Index i = 0; i < start.size(); ++i) {
    start.data()[i] = static_cast<float>(0.1 / std::sqrt(256.0) * random.normal());
  }
  io::write_matrix(folder / "C.npy", start.cast<double>());
  const nn::DecoderFilter<float> folded(filter, features);
  nn::Decoder<float> decoder(folded, features, 1);
  Matrix outputs(nodes, checked_signals);
  for (Eigen::Index s = 0; s < checked_signals; ++s) {
    const Eigen::VectorXf y = data.noisy.col(s).cast<float>();
    const Eigen::VectorXf weights = Eigen::VectorXf::Ones(nodes);
    std::vector<float> slope(data.graph.nodes());
    decoder.set_parameters({start.data(), static_cast<std::size_t>(start.size())});
    std::span<const float> x = decoder.forward();
    for (std::uint32_t epoch = 0; epoch < checked_epochs; ++epoch) {
      tasks::squared_error_gradient(x, y.data(), weights.data(), slope.data());
      x = decoder.step(slope, {});
    }
    outputs.col(s) = Eigen::Map<const Eigen::VectorXf>(x.data(), nodes).cast<double>();
  }
  io::write_matrix(folder / "X.npy", outputs);
}

nlohmann::ordered_json run(const std::filesystem::path& folder, const std::vector<std::string>&) {
  const DenoiseCase data = denoise_case_1(PaperSettings::code, SignalKind::gf, signals, 1);
  write_check(folder, data);
  DenoiseSettings settings = denoise_settings_1(PaperSettings::code, DenoiseArch::gf, 1);
  settings.stop = StopRule::epochs;
  const int all = detail::thread_count(0);
  std::vector<bench::Row> rows;
  nlohmann::ordered_json rates;
  for (const int threads : all > 1 ? std::vector<int>{1, all} : std::vector<int>{1}) {
    settings.threads = threads;
    const double rate = bench::multiplication_rate(threads);
    rates[std::to_string(threads)] = rate;
    // Many signals are timed over fewer epochs: each epoch is like the other.
    for (const auto& [count, timed] :
         {std::pair<std::size_t, std::uint32_t>(1, epochs),
          std::pair<std::size_t, std::uint32_t>(signals, epochs / 10)}) {
      settings.epochs = timed;
      const Matrix noisy = data.noisy.leftCols(static_cast<Eigen::Index>(count));
      const double seconds =
          bench::best_seconds({[&] { denoise(data.graph, noisy, nullptr, settings); }}, 3)[0] *
          epochs / timed;
      const double n = data.graph.nodes();
      // Of dense products, which a polynomial of a sparse matrix need not do.
      const double flops =
          2 * 2 * n * n * static_cast<double>(features) * static_cast<double>(count) * epochs;
      rows.push_back({fmt::format("{} signal{}, {} thread{}: ngf", count, count > 1 ? "s" : "",
                                  threads, threads > 1 ? "s" : ""),
                      seconds, 1, flops / rate / seconds,
                      fmt::format("as {:.0f} GFLOP/s of dense products", flops / seconds / 1e9)});
    }
  }
  return {{"multiplication_rate", rates}, {"rows", bench::json_of(rows)}};
}

}  // namespace

int main(int argc, char** argv) {
  return ngf::bench::run_program("denoise_bench", argc, argv, run);
}
