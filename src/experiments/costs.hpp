#pragma once

/// Rough times of cells in seconds, to estimate those of a plan and of what is left. Measured with
/// `ngf reproduce --full` on two cores of an AMD EPYC (Zen 4); scaled by the speed of a machine in
/// float products, and corrected by the cells that are finished. `ngf bench costs` measures all of
/// them again but `of_row` and `of_graph`, whose cells take no time that counts.
namespace ngf::experiments::costs {

/// Multiplications and additions of float products that those cores do in a second.
inline constexpr double product_rate = 2.2e11;

/// A data set's row of table 1, and a small graph measured once or as one of many realisations.
inline constexpr double of_row = 0.01;
inline constexpr double of_graph = 0.05;
inline constexpr double of_realisation = 1e-3;

/// A multiplication or addition in the products of a denoiser.
inline constexpr double of_product = 9e-12;

/// An epoch of a network, for each node, layer and hidden unit.
inline constexpr double of_unit = 8e-9;

}  // namespace ngf::experiments::costs
