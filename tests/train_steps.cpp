// train_steps IN OUT: a network's weights after some steps of Adam, for nn_reference_test.py. IN
// has the tensors of a model and beside them a graph ("data.edges", pairs), "data.features",
// "data.labels" and "data.train" (nodes); its metadata have "steps", "lr" and "weight_decay". OUT
// has the model's tensors after the steps, and "losses".

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <string>

#include "ngf/io/tensors.hpp"
#include "ngf/nn/loss.hpp"
#include "ngf/nn/network.hpp"
#include "ngf/nn/optimizer.hpp"
#include "tasks/batch.hpp"

namespace {

using namespace ngf;  // NOLINT(google-build-using-namespace): a program of one page

/// Moves the tensors whose names begin with "data." out of the file.
std::map<std::string, Tensor> take_data(TensorFile& file) {
  std::map<std::string, Tensor> data;
  std::vector<Tensor> rest;
  for (Tensor& tensor : file.tensors) {
    if (tensor.name.starts_with("data.")) {
      data[tensor.name.substr(5)] = tensor;
    } else {
      rest.push_back(std::move(tensor));
    }
  }
  file.tensors = std::move(rest);
  return data;
}

template <typename Number>
std::vector<Number> numbers(const Tensor& tensor) {
  return {tensor.values.begin(), tensor.values.end()};
}

void run(const char* in, const char* out) {
  TensorFile file = read_tensors(in);
  const auto data = take_data(file);
  const auto number = [&](const char* key) { return std::stod(file.metadata.at(key)); };
  Model model = model_from(file);

  const Tensor& features = data.at("features");
  const MatrixF x = Eigen::Map<const MatrixF>(features.values.data(),
                                              static_cast<Eigen::Index>(features.shape.at(0)),
                                              static_cast<Eigen::Index>(features.shape.at(1)));
  const auto ends = numbers<NodeId>(data.at("edges"));
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < ends.size(); i += 2) edges.push_back({ends[i], ends[i + 1]});
  const Graph graph = build_graph(static_cast<NodeId>(x.rows()), edges);
  const auto labels = numbers<std::int32_t>(data.at("labels"));
  const auto train = numbers<NodeId>(data.at("train"));

  Network<float> network(model.settings, LayerFilter(model.settings, graph, {}), x, model.classes(),
                         {});
  tasks::set_weights(network.layout(), 0, model.layers, network.parameters());
  Optimizer<float> optimizer(OptimizerKind::adam, network.layout(),
                             {{number("lr"), number("weight_decay")}}, false, 0);
  Tensor losses{"losses", {0}, {}};
  for (int step = 0; step < static_cast<int>(number("steps")); ++step) {
    SignalsOf<float> by_logits;
    const auto loss = softmax_cross_entropy<float>(network.forward(), 1, labels, train, &by_logits);
    losses.values.push_back(static_cast<float>(loss[0]));
    network.backward(by_logits);
    optimizer.step(network.parameters(), network.gradient());
  }
  losses.shape = {losses.values.size()};
  model.layers = tasks::weights_of(network.layout(), 0, network.parameters());
  TensorFile result = to_tensors(model);
  result.tensors.push_back(losses);
  write_tensors(out, result);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw Error("usage: train_steps IN OUT");
    run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "train_steps: {}\n", error.what());
    return 1;
  }
  return 0;
}
