#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ngf/tasks/denoise.hpp"

/// The paper's test cases 1 and 2: signals on communities of 256 nodes, and the networks that
/// denoise them.

namespace ngf {

/// Where text and published code differ: p = 0.3 or 0.75 inside the communities of case 1; signals
/// of unit norm, or as they are in case 1 and smoothed by medians in case 2; inputs of networks
/// N(0, 1), or of standard deviation 0.1 / sqrt(N).
enum class PaperSettings { text, code };
std::string_view settings_name(PaperSettings settings);

/// What makes the signals: x = H b with white noise b, and H = sum h_k A^k or sum h_k A_k.
enum class SignalKind { gf, ngf };

/// The taps h of the published figures.
std::vector<double> paper_taps();

struct DenoiseCase {
  Graph graph;
  Matrix clean;
  Matrix noisy;
};

/// One graph, 8 communities, noise of power 0.1.
DenoiseCase denoise_case_1(PaperSettings settings, SignalKind kind, std::size_t signals,
                           std::uint64_t seed);
/// One graph, 4 communities, noise of the power given.
DenoiseCase denoise_case_2(PaperSettings settings, SignalKind kind, double noise_power,
                           std::size_t signals, std::uint64_t seed);

/// How the cases fit an architecture; the rule is the oracle's.
DenoiseSettings denoise_settings_1(PaperSettings settings, DenoiseArch arch, std::uint64_t seed);
DenoiseSettings denoise_settings_2(PaperSettings settings, DenoiseArch arch, std::uint64_t seed);

/// White noise on each column: of variance power |x|^2 / N.
Matrix with_noise(const Matrix& clean, double power, std::uint64_t seed);

}  // namespace ngf
