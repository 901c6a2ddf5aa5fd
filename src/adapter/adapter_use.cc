#include "adapter/adapter_use.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "backbone/weights_fingerprint.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "data/preprocess.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

// "did you mean", or all that there is.
std::string hint_among(std::string_view word, const std::vector<std::string>& names, std::string_view what) {
  if (const auto near = nearest(word, names)) return fmt::format("did you mean '{}'?", *near);
  return fmt::format("{} {}", what, fmt::join(names, ", "));
}

// New labels for a domain's pictures, by the names of the classes.
std::vector<int> class_numbers(const CardDomain& known, const std::vector<std::string>& names) {
  std::vector<int> numbers;
  for (const auto& name : names) {
    const auto found = std::ranges::find(known.class_names, name);
    if (found == known.class_names.end()) {
      throw Error(ErrorCode::failed_precondition,
                  fmt::format("the adapter has no class {} in '{}'", quote_name(name), known.name),
                  hint_among(name, known.class_names, "its classes there are"))
          .at(known.name);
    }
    numbers.push_back(static_cast<int>(known.first_class) +
                      static_cast<int>(found - known.class_names.begin()));
  }
  return numbers;
}

void relabel(std::span<int> labels, int first_class, const std::vector<int>& numbers) {
  for (int& label : labels) label = numbers[static_cast<std::size_t>(label - first_class)];
}

}  // namespace

std::unique_ptr<Checkpoint> open_backbone_of(const AdapterCard& card, const std::filesystem::path& path) {
  CheckpointOptions how;
  how.image_size = card.geometry.image_size;
  how.heads = card.geometry.heads;
  const auto refuse = [&](const std::string& why) {
    return Error(
               ErrorCode::failed_precondition,
               fmt::format("the adapter was trained around another backbone: {}", why),
               fmt::format("its card names {}, width {}, {} blocks, patches of {}, weights {}; give that one "
                           "by --backbone",
                           quote_name(card.backbone), card.geometry.width, card.geometry.depth,
                           card.geometry.patch_size, card.fingerprint))
        .at(path.string());
  };
  std::unique_ptr<Checkpoint> checkpoint;
  try {
    checkpoint = open_checkpoint(path, how);
  } catch (const Error& error) {
    // The card's heads and image size may not suit it at all, which then is the reason.
    if (error.code() == ErrorCode::invalid_argument) throw refuse(error.what());
    throw;
  }
  const Geometry& g = checkpoint->geometry();
  if (g.width != card.geometry.width || g.depth != card.geometry.depth ||
      g.patch_size != card.geometry.patch_size) {
    throw refuse(
        fmt::format("this one has width {}, {} blocks, patches of {}", g.width, g.depth, g.patch_size));
  }
  if (const auto found = weights_fingerprint(*checkpoint); found != card.fingerprint)
    throw refuse(fmt::format("this one has the same shape and other weights ({})", found));
  return checkpoint;
}

const CardDomain& find_domain(const AdapterCard& card, std::string_view name) {
  const auto found = std::ranges::find(card.domains, name, &CardDomain::name);
  if (found != card.domains.end()) return *found;
  std::vector<std::string> names;
  for (const auto& domain : card.domains) names.push_back(domain.name);
  throw Error(ErrorCode::not_found, fmt::format("the adapter has no domain {}", quote_name(name)),
              hint_among(name, names, "its domains are"));
}

Corpus open_pictures_for(const AdapterCard& card, const CorpusOptions& options, const ReadOptions& read) {
  for (const auto& spec : options.domains) find_domain(card, spec.name);  // before anything is read
  auto corpus = open_corpus(options, read);
  for (auto& domain : corpus.domains) {
    const auto& known = find_domain(card, domain.name);
    const auto numbers = class_numbers(known, domain.class_names);
    relabel(std::span(corpus.train.labels).subspan(domain.first_train, domain.train_count),
            domain.first_class, numbers);
    relabel(std::span(corpus.test.labels).subspan(domain.first_test, domain.test_count), domain.first_class,
            numbers);
    domain.first_class = static_cast<int>(known.first_class);
    domain.class_names = known.class_names;
  }
  return corpus;
}

std::vector<float> logits_of(const StoredAdapter& adapter, const ImageView& picture, Workspace& workspace,
                             ThreadPool* threads) {
  const Backbone& backbone = workspace.backbone;
  const Geometry& g = backbone.geometry();
  std::vector<float> pixels(g.patches() * g.patch_values());
  preprocess_to_patches(picture, adapter.card.preprocessing, g.patch_size, pixels);
  workspace.patches.resize(g.patches(), g.width);
  backbone.embed({pixels.data(), g.patches(), g.patch_values()}, workspace.patches, threads);
  if (adapter.card.adapter.prompts.selects()) {
    workspace.queries.resize(1, g.width);
    frozen_query(backbone, {workspace.patches.data(), g.patches() * g.width}, workspace.queries.row(0));
  }
  // The loss needs a label, the logits do not.
  workspace.targets = {{0, {0, adapter.card.adapter.head.classes}}};
  score_batch(adapter.card.adapter, adapter.state, ClassMask::none, workspace, threads);
  const auto logits = workspace.head.logits.view().row(0);
  return {logits.begin(), logits.end()};
}

ClassName class_name(const AdapterCard& card, std::size_t index) {
  for (const auto& domain : card.domains) {
    if (domain.range().contains(index)) return {domain.name, domain.class_names[index - domain.first_class]};
  }
  throw Error(ErrorCode::internal, fmt::format("class {} is in no domain", index));
}

std::vector<Prediction> best_predictions(std::span<const float> logits, ClassRange range, std::size_t top) {
  const auto among = logits.subspan(range.first, range.count);
  const auto largest = static_cast<double>(*std::ranges::max_element(among));
  std::vector<Prediction> all;
  double sum = 0;
  for (std::size_t i = 0; i < among.size(); ++i) {
    all.push_back({range.first + i, std::exp(static_cast<double>(among[i]) - largest)});
    sum += all.back().probability;
  }
  for (auto& prediction : all) prediction.probability /= sum;
  std::ranges::stable_sort(all, std::greater<>(), &Prediction::probability);
  all.resize(std::min(top, all.size()));
  return all;
}

}  // namespace dfrost
