// Experiments for Python: dfrost::run. The run has a thread of its own; whatever Python it calls (who
// watches, a merge of the caller's own) is handed to the thread that called run(), one call at a time, which
// meanwhile listens for Ctrl-C and otherwise lets other Python threads work.
#include <fmt/format.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "arrays.h"
#include "dfrost/config.h"
#include "dfrost/error.h"
#include "dfrost/run.h"
#include "words.h"

namespace dfrost::python {
namespace {

// Where other threads bring what only the calling thread does.
class Desk {
 public:
  // From any thread: waits until the calling thread has done it. Throws (cancelled) where Python raised, now
  // or before.
  void call(const std::function<void()>& work) {
    std::unique_lock lock(mutex_);
    Job job{&work};
    jobs_.push_back(&job);
    changed_.notify_all();
    changed_.wait(lock, [&] { return job.done; });
    if (job.failed) throw stopped();
  }

  // From the thread of the run, often.
  void stop_if_asked() const {
    if (stop_) throw stopped();
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  // Until close(), by the calling thread, which holds the GIL.
  void attend() {
    constexpr auto kListen = std::chrono::milliseconds(50);
    for (;;) {
      Job* job = nullptr;
      {
        const py::gil_scoped_release free;
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, kListen, [&] { return closed_ || !jobs_.empty(); });
        if (closed_) return;
        if (!jobs_.empty()) {
          job = jobs_.front();
          jobs_.pop_front();
        }
      }
      if (!raised_ && PyErr_CheckSignals() != 0) keep_error();
      if (job == nullptr) continue;
      if (!raised_) {
        try {
          (*job->work)();
        } catch (py::error_already_set& error) {
          error.restore();
          keep_error();
        } catch (const Error&) {
          failure_ = std::current_exception();
          stop_ = true;
        }
      }
      job->failed = stop_;
      const py::gil_scoped_release free;
      const std::lock_guard lock(mutex_);
      job->done = true;
      changed_.notify_all();
    }
  }

  // What Python raised, or what was wrong with what it returned.
  void rethrow() {
    if (raised_) throw py::error_already_set(std::move(*raised_));
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  struct Job {
    const std::function<void()>* work;
    bool done = false;
    bool failed = false;
  };

  static Error stopped() { return {ErrorCode::cancelled, "stopped by the program that runs it"}; }

  // The error that Python has just set.
  void keep_error() {
    raised_.emplace();
    stop_ = true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job*> jobs_;
  bool closed_ = false;
  std::atomic<bool> stop_ = false;
  std::optional<py::error_already_set> raised_;
  std::exception_ptr failure_;
};

py::dict figures_dict(const FigureValues& values) {
  py::dict figures;
  for (const auto name : values.names()) figures[py::str(std::string(name))] = *values.get(name);
  return figures;
}

py::tuple round_tuple(const Round& round) { return py::make_tuple(round.round, figures_dict(round.figures)); }

py::dict summary_dict(const RunSummary& s) {
  using namespace py::literals;
  return py::dict("folder"_a = s.folder, "name"_a = s.name, "method"_a = s.method, "seed"_a = s.seed,
                  "rounds"_a = s.rounds, "clients"_a = s.clients, "figures"_a = figures_dict(s.figures));
}

// `calls`: an object with a method for each event, or None for it.
class PythonObserver final : public Observer {
 public:
  PythonObserver(const py::dict& calls, Desk& desk) : desk_(desk) {
    const auto of = [&](const char* name) {
      return calls.contains(name) ? py::object(calls[name]) : py::none();
    };
    note_ = of("on_note"), warning_ = of("on_warning"), ready_ = of("on_ready");
    progress_ = of("on_progress"), round_ = of("on_round");
  }

  void on_note(const std::string& text) override {
    if (note_) desk_.call([&] { note_(text); });
  }
  void on_warning(const std::string& what, const std::string& hint) override {
    if (warning_) desk_.call([&] { warning_(what, hint); });
  }
  void on_ready(const RunStart& start) override {
    using namespace py::literals;
    if (!ready_) return;
    desk_.call([&] {
      ready_(py::dict("folder"_a = start.folder, "rounds"_a = start.rounds,
                      "rounds_done"_a = start.rounds_done, "clients"_a = start.clients,
                      "train_pictures"_a = start.train_pictures, "test_pictures"_a = start.test_pictures,
                      "classes"_a = start.classes, "precision"_a = std::string(to_string(start.precision))));
    });
  }
  void on_progress(const Progress& progress) override {
    desk_.stop_if_asked();
    if (!progress_) return;
    desk_.call(
        [&] { progress_(std::string(progress.stage), progress.done, progress.total, progress.images); });
  }
  void on_round(const Round& round) override {
    desk_.stop_if_asked();
    if (round_) desk_.call([&] { round_(round_tuple(round)); });
  }

 private:
  // None is no call: tested without the GIL, so by pointer.
  struct Call {
    py::object function;
    Call& operator=(py::object given) {
      if (!given.is_none()) function = std::move(given);
      return *this;
    }
    explicit operator bool() const { return function.ptr() != nullptr; }
    template <typename... Words>
    void operator()(Words&&... words) const {
      function(std::forward<Words>(words)...);
    }
  };

  Desk& desk_;
  Call note_, warning_, ready_, progress_, round_;
};

py::array_t<float> copied(MatrixView<const float> rows) {
  py::array_t<float> copy({length(rows.rows()), length(rows.cols())});
  for (std::size_t r = 0; r < rows.rows(); ++r)
    std::copy_n(rows.row(r).data(), rows.cols(), copy.mutable_data(length(r), 0));
  return copy;
}

void take_result(py::handle result, const std::string& name, MatrixView<float> merged) {
  const Rows rows = rows_of(result, "what " + name + " returned");
  if (rows.view.rows() != merged.rows() || rows.view.cols() != merged.cols())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} returned [{}, {}] where [{}, {}] is needed", name, rows.view.rows(),
                            rows.view.cols(), merged.rows(), merged.cols()),
                "return as many prompts as the client's own set, sets[0], has");
  for (std::size_t r = 0; r < merged.rows(); ++r) std::ranges::copy(rows.view.row(r), merged.row(r).begin());
}

CustomMerge custom_merge(const py::object& function, const std::string& name, Desk& desk) {
  const PyObject* const call = function.ptr();  // lives as long as the caller's arguments do
  return {name, [call, name, &desk](const MergeInput& input, std::size_t client, std::size_t round,
                                    MatrixView<float> merged) {
            desk.call([&] {
              py::list sets;
              for (const auto& sender : input.senders) sets.append(copied(sender));
              const py::handle merge(const_cast<PyObject*>(call));
              take_result(merge(sets, std::vector<double>(input.weights.begin(), input.weights.end()),
                                copied(input.previous), client, round),
                          name, merged);
            });
          }};
}

// (images, labels) as Python has checked them: uint8 and int64.
std::vector<LabelledPicture> labelled(const py::handle& pair, const std::string& name,
                                      std::vector<py::array>& keep) {
  const auto both = pair.cast<py::tuple>();
  Pictures pictures = pictures_of(both[0], name);
  const auto labels = both[1].cast<std::vector<std::size_t>>();
  if (labels.size() != pictures.views.size())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} pictures and {} labels", pictures.views.size(), labels.size()),
                "give one label for each picture")
        .at(name);
  std::vector<LabelledPicture> result;
  for (std::size_t i = 0; i < labels.size(); ++i) result.push_back({pictures.views[i], labels[i]});
  std::ranges::move(pictures.keep, std::back_inserter(keep));
  return result;
}

RunData run_data(const py::dict& given, std::vector<py::array>& keep) {
  RunData data;
  data.name = given["name"].cast<std::string>();
  data.class_names = given["classes"].cast<std::vector<std::string>>();
  for (const auto& client : given["clients"].cast<py::list>())
    data.clients.push_back(labelled(client, fmt::format("clients[{}]", data.clients.size()), keep));
  data.test = labelled(given["test"], "test", keep);
  return data;
}

py::dict run_here(const Config& config, const py::dict& how, const py::dict& calls) {
  Desk desk;
  PythonObserver observer(calls, desk);
  RunOptions options;
  options.folder = path_of(how["folder"], "folder");
  options.resume = flag_of(how["resume"], "resume");
  options.start_over = flag_of(how["start_over"], "start_over");
  const py::object merge = how["merge"];
  if (!merge.is_none()) options.merge = custom_merge(merge, how["merge_name"].cast<std::string>(), desk);
  std::vector<py::array> keep;
  if (!how["data"].is_none()) options.data = run_data(how["data"], keep);
  std::optional<RunSummary> summary;
  std::exception_ptr failure;
  std::thread worker([&] {
    try {
      summary = run(config, options, observer);
    } catch (...) {
      failure = std::current_exception();
    }
    desk.close();
  });
  desk.attend();
  {
    const py::gil_scoped_release free;
    worker.join();
  }
  desk.rethrow();
  if (failure) std::rethrow_exception(failure);
  return summary_dict(*summary);
}

py::dict loaded_dict(const LoadedRun& run) {
  using namespace py::literals;
  py::list rounds;
  for (const auto& round : run.rounds) rounds.append(round_tuple(round));
  return py::dict("folder"_a = run.folder, "config"_a = run.config, "rounds"_a = rounds,
                  "summary"_a = run.summary ? py::object(summary_dict(*run.summary)) : py::none(),
                  "finished"_a = run.finished, "network_adapter"_a = run.network_adapter,
                  "client_adapters"_a = run.client_adapters);
}

template <typename Infos, typename... Fields>
py::list table(const Infos& infos, Fields... fields) {
  py::list rows;
  for (const auto& info : infos) rows.append(py::make_tuple(std::string(info.*fields)...));
  return rows;
}

}  // namespace

void add_runs(py::module_& module) {
  py::class_<Config>(module, "Config")
      .def_static("load", [](py::handle file,
                             const ConfigSettings& s) { return Config::load(path_of(file, "file"), s); })
      .def_static("parse", [](py::handle toml,
                              const ConfigSettings& s) { return Config::parse(text_of(toml, "toml"), s); })
      .def_static("preset", [](py::handle name,
                               const ConfigSettings& s) { return Config::preset(text_of(name, "name"), s); })
      .def("set", py::overload_cast<const ConfigSettings&>(&Config::set))
      .def("get", &Config::get)
      .def("value", [](const Config& config, py::handle key) { return config.value(text_of(key, "key")); })
      .def("to_toml", &Config::to_toml)
      .def("copy", [](const Config& config) { return config; });
  module.def("run", &run_here);
  module.def("load_run", [](py::handle folder) {
    const auto place = path_of(folder, "folder");
    std::optional<LoadedRun> run;
    {
      const py::gil_scoped_release free;
      run = load_run(place);
    }
    return loaded_dict(*run);
  });
  module.def("known_figures", [] {
    return table(known_figures(), &FigureInfo::name, &FigureInfo::title, &FigureInfo::unit,
                 &FigureInfo::meaning);
  });
  module.def("known_keys", [] {
    return table(known_config_keys(), &ConfigKeyInfo::name, &ConfigKeyInfo::comment, &ConfigKeyInfo::values,
                 &ConfigKeyInfo::default_value);
  });
  module.def("known_methods", [] {
    return table(known_methods(), &MethodInfo::name, &MethodInfo::title, &MethodInfo::summary);
  });
  module.def("known_presets", [] { return table(known_presets(), &PresetInfo::name, &PresetInfo::summary); });
}

}  // namespace dfrost::python
