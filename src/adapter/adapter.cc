#include "dfrost/adapter.h"

#include <fmt/format.h>

#include "adapter/adapter_file.h"
#include "adapter/adapter_use.h"
#include "backbone/backbone_names.h"
#include "base/quote.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

AdapterInfo info_of(const StoredAdapter& adapter) {
  const AdapterCard& card = adapter.card;
  AdapterInfo info{.method = card.method,
                   .model = card.model,
                   .round = card.round,
                   .seed = card.seed,
                   .backbone = card.backbone,
                   .backbone_fingerprint = card.fingerprint,
                   .precision = card.precision,
                   .geometry = card.geometry,
                   .preprocessing = card.preprocessing,
                   .domains = {},
                   .head = std::string(to_string(card.adapter.head.kind)),
                   .prompts = card.adapter.prompts.count,
                   .pool = card.adapter.prompts.pool,
                   .verified = adapter.has_checksum};
  for (const auto& domain : card.domains) {
    info.domains.push_back({domain.name, domain.first_class, domain.class_names});
  }
  return info;
}

// A card holds no path: a run may have had its backbone anywhere, and adapters travel.
std::filesystem::path backbone_path(const AdapterCard& card, const std::filesystem::path& given) {
  if (!given.empty()) return find_backbone(given);
  if (is_backbone_name(card.backbone)) return find_backbone(card.backbone);
  throw Error(ErrorCode::invalid_argument, "an adapter alone does not say where its backbone lies",
              fmt::format("name it; the adapter was trained around {}", quote_name(card.backbone)));
}

}  // namespace

struct Adapter::Contents {
  StoredAdapter stored;
  AdapterInfo info;
};

Adapter::Adapter(const std::filesystem::path& file) {
  auto stored = read_adapter(file);
  auto info = info_of(stored);
  contents_ = std::make_shared<Contents>(Contents{std::move(stored), std::move(info)});
}

const AdapterInfo& Adapter::info() const { return contents_->info; }

std::vector<AdapterTensor> Adapter::tensors() const {
  std::vector<AdapterTensor> tensors;
  const ClientState& state = contents_->stored.state;
  for (const auto& part : state.layout.parts()) {
    tensors.push_back({part.name, part.shape, std::span(state.values).subspan(part.offset, part.size)});
  }
  return tensors;
}

struct Classifier::Parts {
  Parts(const Adapter& of, std::unique_ptr<Backbone> around, std::size_t thread_count)
      : adapter(of), backbone(std::move(around)), threads(thread_count), workspace(*backbone) {}

  Adapter adapter;
  std::unique_ptr<Backbone> backbone;
  ThreadPool threads;
  Workspace workspace;
};

Classifier::Classifier(const Adapter& adapter, const ClassifierOptions& options) {
  const AdapterCard& card = adapter.contents_->stored.card;
  const auto checkpoint = open_backbone_of(card, backbone_path(card, options.backbone));
  const auto precision = options.precision == Precision::automatic ? card.precision : options.precision;
  parts_ = std::make_unique<Parts>(
      adapter, make_backbone(*checkpoint, {.precision = precision, .training = false}), options.threads);
}

Classifier::~Classifier() = default;
Classifier::Classifier(Classifier&&) noexcept = default;
Classifier& Classifier::operator=(Classifier&&) noexcept = default;

std::vector<float> Classifier::logits(const ImageView& picture) {
  return logits_of(parts_->adapter.contents_->stored, picture, parts_->workspace, &parts_->threads);
}

std::vector<Guess> Classifier::classify(const ImageView& picture, std::size_t top, std::string_view domain) {
  const StoredAdapter& adapter = parts_->adapter.contents_->stored;
  const ClassRange range = domain.empty() ? ClassRange{0, adapter.card.adapter.head.classes}
                                          : find_domain(adapter.card, domain).range();
  std::vector<Guess> guesses;
  for (const auto& best : best_predictions(logits(picture), range, top)) {
    const auto [of_domain, name] = class_name(adapter.card, best.class_index);
    guesses.push_back({of_domain, name, best.class_index, best.probability});
  }
  return guesses;
}

}  // namespace dfrost
