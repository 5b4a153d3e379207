#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ngf/dataset.hpp"
#include "ngf/progress.hpp"
#include "ngf/tasks/denoise_cases.hpp"

/// The paper's table and figures, and its claims measured one by one (Tenorio, Rey, Gama, Segarra
/// and Marques, 2021).
///
/// A figure is a list of cells. A cell's result is a function of the study and the seed alone:
/// whichever other cells were run, in whatever order, on any number of threads. K counts taps, as
/// the paper does.

namespace ngf::experiments {

enum class Size {
  quick,  ///< fewer signals, runs, taps and epochs: all figures in about two minutes
  full,   ///< the paper's
};

struct NamedDataset {
  std::string name;  ///< "cora"
  Dataset dataset;
};

/// What results depend on, and how much of the machine they may take.
struct Study {
  /// Of Figure 2b; Figure 2a always has those of the code, and with `text` also those of the text.
  PaperSettings settings = PaperSettings::text;
  Size size = Size::quick;
  std::uint64_t seed = 1;
  std::size_t runs = 0;  ///< networks for each point of Figures 3a and 3b; 0: what the size says
  /// The available ones of Cora, Citeseer and Pubmed; a synthetic replacement for the others is
  /// last.
  std::vector<NamedDataset> datasets;
  int threads = 0;           ///< 0: all that the machine offers
  std::uint64_t memory = 0;  ///< bytes; 0: a share of what the machine has free
};

/// A piece of a figure that is run as a whole.
struct Cell {
  std::string key;   ///< "fig1 er create K=2"
  std::string part;  ///< which of a figure's lists its rows belong to; empty where there is one
  /// A rough time, on the machine of src/experiments/costs.hpp.
  double seconds = 0;
  /// Multiplications and additions of its products, where they are counted.
  double products = 0;
  /// The rows, as a JSON array in one line. Throws Interrupted when asked to stop.
  std::function<std::string(Progress*)> run;
};

struct Figure {
  std::string name;   ///< "fig1"
  std::string title;  ///< what it shows, for a plan
  std::vector<Cell> cells;
};

/// All names, in the paper's order, and last the claims.
const std::vector<std::string>& figure_names();
/// Whether the figure is about data sets, so that `Study::datasets` must not be empty.
bool needs_datasets(std::string_view figure);
/// The cells keep a reference to the study. Throws Error for a name that is none.
Figure make_figure(std::string_view name, const Study& study);

// One function per figure, each in its own file.
Figure table1(const Study& study);
Figure fig1(const Study& study);
Figure fig2a(const Study& study);
Figure fig2b(const Study& study);
Figure fig3a(const Study& study);
Figure fig3b(const Study& study);
Figure claims(const Study& study);

/// A figure with what its cells gave, in their order.
struct FigureRows {
  const Figure* figure = nullptr;
  std::vector<std::string> rows;  ///< JSON arrays
};

/// results.json: the same text for the same results. Times are no part of it.
std::string results_text(const Study& study, bool stand_in, const std::vector<FigureRows>& figures);

struct NamedText {
  std::string name;
  std::string text;
};

/// The lists of results.json as tables: fig1.csv, ..., and one for each part of the claims. Values
/// by epoch are one line per epoch.
std::vector<NamedText> csv_tables(const std::string& results);

}  // namespace ngf::experiments
