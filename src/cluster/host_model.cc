#include "cluster/host_model.h"

#include <fmt/format.h>

#include "dfrost/error.h"

namespace dfrost {
namespace {

// Everything that decides how a model lies in memory on one host.
std::string name_of(const std::string& weights, const BackboneOptions& options) {
  return fmt::format("{} {} {}", weights, to_string(options.precision), options.training);
}

}  // namespace

std::unique_ptr<Backbone> HostModel::make(const WeightSource& source, const BackboneOptions& options,
                                          const std::string& weights) {
  if (host_.size() == 1) return make_backbone(source, options);
  const auto model = name_of(weights, options);
  return packs() ? make_offered(source, options, model) : take_up(source, options, model);
}

std::unique_ptr<Backbone> HostModel::make_offered(const WeightSource& source, const BackboneOptions& options,
                                                  const std::string& model) {
  offered_ = std::make_unique<SharedWeights>();
  auto backbone = make_backbone(source, options, offered_.get());
  WeightOffer offer = offered_->offer(model);
  settled_ = true;
  for (std::size_t rank = 1; rank < host_.size(); ++rank) host_.send(rank, pack(offer));
  return backbone;
}

std::unique_ptr<Backbone> HostModel::take_up(const WeightSource& source, const BackboneOptions& options,
                                             const std::string& model) {
  const auto offer = unpack<WeightOffer>(host_.receive(0));
  settled_ = true;
  // Ranks that have read something else are told so when all have said what they read.
  if (offer.model != model) return make_backbone(source, options);
  std::unique_ptr<OfferedWeights> weights;
  try {
    weights = std::make_unique<OfferedWeights>(offer);
  } catch (const Error& error) {
    why_own_ = error.what();
    return make_backbone(source, options);
  }
  return make_backbone(source, options, weights.get());
}

void HostModel::give_up() {
  if (settled_) return;
  settled_ = true;
  if (!packs()) {
    host_.receive(0);
    return;
  }
  WeightOffer nothing;
  for (std::size_t rank = 1; rank < host_.size(); ++rank) host_.send(rank, pack(nothing));
}

}  // namespace dfrost
