#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "ngf/io/tensors.hpp"
#include "ngf/pair_weights.hpp"
#include "ngf/tasks/train_job.hpp"
#include "work.hpp"

namespace ngf::python {

namespace {

void bind_settings(nb::module_& m) {
  nb::class_<ModelSettings> model(m, "ModelSettings");
  bind_kind(model, "model", &ModelSettings::model, model_name, ModelKind::mlp);
  bind_kind(model, "normalize", &ModelSettings::normalization, normalization_name,
            Normalization::row);
  bind_kind(model, "shift", &ModelSettings::shift, shift_name, Shift::gcn);
  bind_kind(model, "pair_weights", &ModelSettings::pair_weights, pair_weights_name,
            PairWeights::given);
  model.def_rw("hops", &ModelSettings::hops)
      .def_rw("taps", &ModelSettings::taps)
      .def_rw("learn_taps", &ModelSettings::learn_taps)
      .def_rw("min_paths", &ModelSettings::min_paths)
      .def_rw("hidden", &ModelSettings::hidden)
      .def_rw("layers", &ModelSettings::layers)
      .def_rw("bias", &ModelSettings::bias)
      .def_rw("skip", &ModelSettings::skip)
      .def_rw("pair_power", &ModelSettings::pair_power)
      .def_rw("bank", &ModelSettings::bank)
      .def_rw("pre", &ModelSettings::pre)
      .def_rw("post", &ModelSettings::post)
      .def_rw("residual", &ModelSettings::residual)
      .def_rw("jump", &ModelSettings::jump)
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
      .def_rw("batch", &ClassifySettings::batch)
      .def_rw("threads", &ClassifySettings::threads)
      .def_rw("memory", &ClassifySettings::memory)
      .def("weight_pairs_by",
           [](ClassifySettings& own, const Embeddings& embeddings) { own.embeddings = embeddings; })
      .def("partition_by", [](ClassifySettings& own, std::shared_ptr<Partition> partition) {
        own.partition = std::move(partition);
      });
}

/// What many runs come to.
struct Trained {
  RunRecord best;
  Model model;
  std::string damage;  ///< what the journal says about damaged records
};

/// Loss, training score and validation score by epoch.
Matrix history_of(const Trained& trained) {
  Matrix history(static_cast<Eigen::Index>(trained.best.history.size()), 3);
  Eigen::Index row = 0;
  for (const EpochRecord& epoch : trained.best.history) {
    history.row(row++) << epoch.loss, epoch.train_score, epoch.validation_score;
  }
  return history;
}

/// Finished runs are kept by the first rank; what it fails with is raised by all.
void keep_runs(TrainJob& job, const TrainTask& task, const std::filesystem::path& path) {
  const Partition* const partition = task.settings.partition.get();
  if (partition == nullptr) {
    job.keep_in(path, task.text(), true);
    return;
  }
  Communicator& ranks = partition->communicator();
  std::string failure;
  if (ranks.rank() == 0) {
    try {
      job.keep_in(path, task.text(), true);
    } catch (const Error& error) {
      failure = error.what();
    }
  }
  failure = ranks.of_first(failure);
  if (!failure.empty()) throw Error(failure);
  job.share(ranks);
}

Trained train(const Dataset& dataset, const List<NodeId>& to_train, const List<NodeId>& to_validate,
              const List<NodeId>& to_test, const ClassifySettings& settings, std::size_t runs,
              const std::optional<std::filesystem::path>& journal) {
  const TrainTask task{.name = "",
                       .dataset = &dataset,
                       .split = {vector_of(to_train), vector_of(to_validate), vector_of(to_test)},
                       .settings = settings};
  return without_gil([&](Progress* progress) {
    TrainJob job(task, runs);
    if (journal) keep_runs(job, task, *journal);
    ClassifyWatch watch;
    watch.progress = progress;
    job.train(watch);
    Trained trained{best_of(job.records()), job.best_model(progress), job.damage()};
    job.finish();
    return trained;
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
      .def(
          "predict",
          [](const Model& model, const Dataset& dataset, int threads, std::uint64_t memory,
             const Embeddings* embeddings) {
            Prediction prediction = without_gil([&](Progress* progress) {
              PredictOptions options;
              options.threads = threads;
              options.memory = memory;
              if (embeddings != nullptr) options.embeddings = *embeddings;
              options.progress = progress;
              return predict(model, dataset, options);
            });
            return array_of(std::move(prediction.probabilities));
          },
          nb::arg("dataset"), nb::arg("threads"), nb::arg("memory"),
          nb::arg("embeddings").none() = nb::none());

  nb::class_<Trained>(m, "Trained")
      .def_prop_ro("validation_score", [](const Trained& own) { return own.best.validation; })
      .def_prop_ro("best_epoch", [](const Trained& own) { return own.best.best_epoch; })
      .def_prop_ro(
          "history", [](const Trained& own) { return array_of(history_of(own)); },
          nb::rv_policy::automatic)
      .def_ro("model", &Trained::model)
      .def_ro("damage", &Trained::damage);
}

}  // namespace

void bind_classify(nb::module_& m) {
  bind_settings(m);
  bind_models(m);
  m.def("train", &train, nb::arg("dataset"), nb::arg("train").noconvert(),
        nb::arg("validation").noconvert(), nb::arg("test").noconvert(), nb::arg("settings"),
        nb::arg("runs"), nb::arg("journal").none());
}

}  // namespace ngf::python
