// What every rank of a cluster has, the first as well as the others: its nodes, and the exchanges over which
// they reach those of other ranks.
#pragma once

#include <cstddef>
#include <vector>

#include "cluster/places.h"
#include "network/mpi/communicator.h"
#include "network/mpi/mpi_network.h"
#include "records/about.h"
#include "run/groundwork.h"
#include "run/workshop.h"

namespace dfrost {

class RankWorkshop {
 public:
  // All references must outlive it.
  RankWorkshop(const Groundwork& ground, Communicator& ranks, const std::vector<RankPlace>& places);

  std::vector<Node>& residents() { return residents_; }
  Workshop& workshop() { return workshop_; }
  WorkDone run_round(const RoundPlan& plan, const RoundProgressCallback& progress);
  WorkDone prepare(const RoundProgressCallback& progress);

  const std::vector<std::size_t>& threads() const { return threads_; }  // of each rank
  std::vector<ClientId> nodes_at(std::size_t rank) const;
  std::vector<RankShare> shares() const;

 private:
  std::vector<LetterLink> links(Moment moment) const;

  const Groundwork& ground_;
  const std::vector<RankPlace>& places_;
  std::vector<std::size_t> threads_;
  std::vector<std::size_t> homes_;   // of each node
  const RoundPlan* plan_ = nullptr;  // of the round under way
  std::vector<Node> residents_;
  MpiNetwork network_;
  Workshop workshop_;
};

}  // namespace dfrost
