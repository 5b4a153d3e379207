#include "ngf/tasks/classify.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "ngf/io/tensors.hpp"
#include "work.hpp"

namespace ngf::python {

namespace {

void bind_settings(nb::module_& m) {
  nb::class_<ModelSettings> model(m, "ModelSettings");
  bind_kind(model, "model", &ModelSettings::model, model_name, ModelKind::mlp);
  bind_kind(model, "normalize", &ModelSettings::normalization, normalization_name,
            Normalization::row);
  bind_kind(model, "shift", &ModelSettings::shift, shift_name, Shift::gcn);
  model.def_rw("hops", &ModelSettings::hops)
      .def_rw("taps", &ModelSettings::taps)
      .def_rw("learn_taps", &ModelSettings::learn_taps)
      .def_rw("min_paths", &ModelSettings::min_paths)
      .def_rw("hidden", &ModelSettings::hidden)
      .def_rw("layers", &ModelSettings::layers)
      .def_rw("bias", &ModelSettings::bias)
      .def_rw("skip", &ModelSettings::skip)
      .def_rw("normalize_features", &ModelSettings::normalize_features);

  nb::class_<RunSettings>(m, "RunSettings")
      .def_rw("seed", &RunSettings::seed)
      .def_rw("dropout", &RunSettings::dropout)
      .def_rw("lr", &RunSettings::lr)
      .def_rw("weight_decay", &RunSettings::weight_decay);

  nb::class_<ClassifySettings> settings(m, "ClassifySettings");
  settings.def_static("recipe", [](const std::string& name, const std::string& dataset) {
    return recipe(name, dataset);
  });
  bind_kind(settings, "metric", &ClassifySettings::metric, metric_name, Metric::macro_f1);
  bind_kind(settings, "storage", &ClassifySettings::storage, storage_name, Storage::stream);
  settings.def_rw("model", &ClassifySettings::model)
      .def_rw("run", &ClassifySettings::run)
      .def_rw("epochs", &ClassifySettings::epochs)
      .def_rw("patience", &ClassifySettings::patience)
      .def_rw("threads", &ClassifySettings::threads)
      .def_rw("memory", &ClassifySettings::memory)
      .def("partition_by", [](ClassifySettings& own, std::shared_ptr<Partition> partition) {
        own.partition = std::move(partition);
      });
}

/// Loss, training score and validation score by epoch.
Matrix history_of(const RunResult& run) {
  Matrix history(static_cast<Eigen::Index>(run.history.size()), 3);
  for (std::size_t e = 0; e < run.history.size(); ++e) {
    const EpochRecord& record = run.history[e];
    history.row(static_cast<Eigen::Index>(e)) << record.loss, record.train_score,
        record.validation_score;
  }
  return history;
}

std::vector<RunResult> train(const Dataset& dataset, const List<NodeId>& to_train,
                             const List<NodeId>& to_validate, const List<NodeId>& to_test,
                             const ClassifySettings& settings, std::size_t runs) {
  const Split split{vector_of(to_train), vector_of(to_validate), vector_of(to_test)};
  return without_gil([&](Progress* progress) {
    ClassifyWatch watch;
    watch.progress = progress;
    return classify(dataset, split, settings, runs_of(settings, runs), watch);
  });
}

void bind_models(nb::module_& m) {
  nb::class_<Model>(m, "Model")
      .def_prop_ro("features", &Model::features)
      .def_prop_ro("classes", &Model::classes)
      .def_rw("labels", &Model::labels)
      .def_ro("settings", &Model::settings)
      .def("save",
           [](const Model& model, const std::filesystem::path& path) {
             write_tensors(path, to_tensors(model));
           })
      .def_static("load",
                  [](const std::filesystem::path& path) { return model_from(read_tensors(path)); })
      .def("predict",
           [](const Model& model, const Dataset& dataset, int threads, std::uint64_t memory) {
             Prediction prediction = without_gil([&](Progress* progress) {
               PredictOptions options;
               options.threads = threads;
               options.memory = memory;
               options.progress = progress;
               return predict(model, dataset, options);
             });
             return array_of(std::move(prediction.probabilities));
           });

  nb::class_<RunResult>(m, "RunResult")
      .def_ro("validation_score", &RunResult::validation_score)
      .def_ro("test_score", &RunResult::test_score)
      .def_ro("best_epoch", &RunResult::best_epoch)
      .def_ro("model", &RunResult::model)
      .def_prop_ro(
          "history", [](const RunResult& run) { return array_of(history_of(run)); },
          nb::rv_policy::automatic);
}

}  // namespace

void bind_classify(nb::module_& m) {
  bind_settings(m);
  bind_models(m);
  m.def("train", &train, nb::arg("dataset"), nb::arg("train").noconvert(),
        nb::arg("validation").noconvert(), nb::arg("test").noconvert(), nb::arg("settings"),
        nb::arg("runs"));
}

}  // namespace ngf::python
