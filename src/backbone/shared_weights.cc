#include "backbone/shared_weights.h"

#include <fmt/format.h>

#include <utility>

#include "dfrost/error.h"

namespace dfrost {

WeightRoom SharedWeights::room_for(const std::string& name, std::size_t bytes) {
  auto piece = memory_.add(bytes);
  const std::lock_guard lock(mutex_);
  places_.push_back({name, piece.offset, bytes});
  return {std::move(piece.data), false};
}

WeightOffer SharedWeights::offer(std::string model) const {
  return {std::move(model), memory_.address(), places_};
}

OfferedWeights::OfferedWeights(const WeightOffer& offer) : memory_(offer.address) {
  for (const auto& place : offer.places) places_.emplace(place.name, place);
}

WeightRoom OfferedWeights::room_for(const std::string& name, std::size_t bytes) {
  const auto found = places_.find(name);
  if (found == places_.end() || found->second.bytes != bytes)
    throw Error(ErrorCode::internal,
                fmt::format("the model that is shared has no matrix {} of {} bytes", name, bytes));
  return {memory_.at(found->second.offset, bytes), true};
}

}  // namespace dfrost
