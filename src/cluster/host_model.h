// The frozen model of the ranks of one host: the first of them packs it, the others map what it packed, so
// that it lies in memory once. Where they cannot (another user, another container), each packs its own.
#pragma once

#include <memory>
#include <string>

#include "backbone/shared_weights.h"
#include "backbone/weights.h"
#include "cluster/packing.h"
#include "dfrost/backbone.h"
#include "network/mpi/communicator.h"

namespace dfrost {

template <typename A>
void pack_fields(A& archive, WeightOffer::Place& place) {
  auto& [name, offset, bytes] = place;
  archive(name, offset, bytes);
}
template <typename A>
void pack_fields(A& archive, WeightOffer& offer) {
  auto& [model, address, places] = offer;
  archive(model, address, places);
}

class HostModel {
 public:
  // All ranks make theirs at once.
  explicit HostModel(const Communicator& ranks) : host_(ranks.on_this_host()) {}

  // Once. `weights`: the source's weights_fingerprint(). The others of the host wait for the first's.
  std::unique_ptr<Backbone> make(const WeightSource& source, const BackboneOptions& options,
                                 const std::string& weights);
  // Instead of it, by who has no model to make: nobody waits for it any longer. Nothing after either.
  void give_up();

  // Why this rank has one of its own although another of its host has packed it; empty where it has not.
  const std::string& why_own() const { return why_own_; }

 private:
  bool packs() const { return host_.rank() == 0; }
  std::unique_ptr<Backbone> make_offered(const WeightSource& source, const BackboneOptions& options,
                                         const std::string& model);
  std::unique_ptr<Backbone> take_up(const WeightSource& source, const BackboneOptions& options,
                                    const std::string& model);

  Communicator host_;  // the ranks of it
  std::unique_ptr<SharedWeights> offered_;
  bool settled_ = false;
  std::string why_own_;
};

}  // namespace dfrost
