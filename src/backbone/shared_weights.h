// The packed matrices of a frozen model, once for all processes of a host: one packs them as it would for
// itself and offers them, the others take them up instead of packing their own. All compute the same with
// them.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/shared_memory.h"
#include "kernels/weight_shelf.h"

namespace dfrost {

// What is offered, and where it lies. Nothing where there are no places.
struct WeightOffer {
  struct Place {
    std::string name;
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };
  std::string model;  // what they are the weights of: only such a model can take them up
  SharedMemory::Address address;
  std::vector<Place> places;
};

// Holds what it has packed for others to take up as long as it lives; what a backbone uses of it stays with
// the backbone.
class SharedWeights final : public WeightMemory {
 public:
  WeightRoom room_for(const std::string& name, std::size_t bytes) override;
  // When all is packed.
  WeightOffer offer(std::string model) const;

 private:
  SharedMemory memory_;
  std::mutex mutex_;
  std::vector<WeightOffer::Place> places_;
};

// Of another process of this host.
class OfferedWeights final : public WeightMemory {
 public:
  // Throws (unavailable) where its memory cannot be reached.
  explicit OfferedWeights(const WeightOffer& offer);
  // Throws (internal) where the offer has no such matrix.
  WeightRoom room_for(const std::string& name, std::size_t bytes) override;

 private:
  SharedMemory memory_;
  std::map<std::string, WeightOffer::Place> places_;
};

}  // namespace dfrost
