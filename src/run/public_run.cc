#include <fmt/format.h>

#include "config/config_access.h"
#include "dfrost/error.h"
#include "dfrost/run.h"
#include "records/figure_table.h"
#include "records/run_folder.h"
#include "run/given_data.h"
#include "run/run.h"

namespace dfrost {
namespace {

Round public_round(const RoundRecord& record) {
  Round round{.round = record.round, .figures = {}};
  for (const auto& figure : figures()) {
    if (const auto value = figure.of(record)) round.figures.set(figure.name, *value);
  }
  return round;
}

// Hands on to a watcher who knows the public headers alone.
class PublicWatcher final : public RunObserver {
 public:
  PublicWatcher(Observer& observer, std::filesystem::path folder)
      : observer_(observer), folder_(std::move(folder)) {}

  void on_note(const std::string& text) override { observer_.on_note(text); }
  void on_warning(const std::string& what, const std::string& hint) override {
    observer_.on_warning(what, hint);
  }
  void on_ready(const RunConfig& config, const Simulation& federation, const Backbone& backbone) override {
    const Corpus& corpus = federation.corpus();
    observer_.on_ready({.folder = folder_,
                        .rounds = config.run.rounds,
                        .rounds_done = federation.rounds_done(),
                        .clients = federation.clients().size(),
                        .train_pictures = corpus.train.size(),
                        .test_pictures = corpus.test.size(),
                        .classes = corpus.classes(),
                        .precision = backbone.precision()});
  }
  void on_progress(const RoundProgress& progress) override {
    observer_.on_progress({progress.stage, progress.done, progress.total, progress.images});
  }
  void on_round(const RoundRecord& record) override { observer_.on_round(public_round(record)); }

 private:
  Observer& observer_;
  std::filesystem::path folder_;
};

// A merge of the caller's own is for what a client does with its neighbours' prompt sets. Where nobody does
// that, the run would go through without ever calling it.
void require_merges(const RunConfig& config, const CustomMerge& merge) {
  const bool ntk_without = config.method.round == RoundKind::ntk && config.ntk.prompts == NtkPrompts::frozen;
  if (config.method.cooperation == Cooperation::peers && !config.pool_grows() && !ntk_without &&
      config.most_prompts() > 0)
    return;
  throw Error(
      ErrorCode::failed_precondition,
      fmt::format("under method.name = \"{}\" no client merges its neighbours' prompts: '{}' would never "
                  "be called",
                  config.method.name, merge.name),
      "take a method in which it does, such as dfrost or dfedavgm, or leave the merge out");
}

}  // namespace

RunSummary run(const Config& config, const RunOptions& options, Observer& observer) {
  RunConfig resolved = ConfigAccess::resolved(config);
  if (options.merge) {
    require_merges(resolved, *options.merge);
    resolved.merge.custom = std::make_shared<const CustomMerge>(*options.merge);
    resolved.diagnostics.theory = false;  // the theorem is about another merge
  }
  if (options.data) bring_data(*options.data, resolved);
  resolved.backbone.path = find_backbone(resolved.backbone.path);
  RunOptions here = options;
  if (here.folder.empty()) here.folder = std::filesystem::path("runs") / resolved.run.name;
  // The folder's config.toml holds every key, so that it makes the run again.
  if (here.command.empty())
    here.command = fmt::format("dfrost run {}", (here.folder / "config.toml").string());
  PublicWatcher watcher(observer, here.folder);
  run_experiment(resolved, here, watcher);
  return read_summary(here.folder);
}

RunSummary run(const Config& config, const RunOptions& options) {
  Observer nobody;
  return run(config, options, nobody);
}

}  // namespace dfrost
