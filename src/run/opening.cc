#include "run/opening.h"

#include <fmt/format.h>

#include "base/quote.h"
#include "base/thread_pool.h"
#include "dfrost/error.h"
#include "measure/evaluation.h"

namespace dfrost {
namespace {

void require_classes(const Corpus& corpus) {
  if (corpus.classes() > 1) return;
  const Domain& only = corpus.domains.front();
  throw Error(ErrorCode::failed_precondition,
              fmt::format("{} has one class, {}: nothing to tell apart", only.name,
                          quote_name(only.class_names.front())),
              "one folder per class, directly below the folder or below train/ and test/")
      .at(only.name);
}

}  // namespace

std::unique_ptr<Checkpoint> open_backbone(const BackboneSection& backbone, RunNotes& notes) {
  const auto how = backbone.checkpoint_options();
  auto checkpoint = open_checkpoint(backbone.path, how);
  for (const auto& doubt :
       {doubt_about_heads(*checkpoint, how.heads.has_value()), doubt_about_pictures(*checkpoint)}) {
    if (doubt) notes.on_warning(doubt->what, doubt->hint);
  }
  return checkpoint;
}

Corpus open_pictures(const RunConfig& config, RunNotes& notes) {
  ThreadPool threads(config.run.threads);
  auto corpus = open_corpus(config.corpus(), {.pool = &threads});
  for (const auto& domain : corpus.domains) {
    for (const auto& note : domain.notes) notes.on_note(domain.name + ": " + note);
    if (domain.skipped.count() > 0) {
      notes.on_note(fmt::format("{}: {} files skipped", domain.name, domain.skipped.count()));
    }
  }
  if (const auto scoring = config.scoring(); scoring.samples != config.evaluate.samples) {
    notes.on_note(
        fmt::format("scored on {} test pictures of each domain, so that scoring takes about {:g} % "
                    "of the run; evaluate.share = 1 lifts that",
                    scoring.samples, 100 * config.evaluate.share));
  }
  require_test_pictures(corpus);
  require_classes(corpus);
  return corpus;
}

}  // namespace dfrost
