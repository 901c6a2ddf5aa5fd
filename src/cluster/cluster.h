// A federation on the ranks of an MPI job: each takes some nodes through the same rounds (run/workshop.h),
// rank 0 also observes all of them, writes the run's folder and shows what there is to see. What comes out is
// what one process would have computed, byte for byte, whatever the number of ranks and threads.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cluster/host_model.h"
#include "cluster/lookout.h"
#include "cluster/places.h"
#include "config/config.h"
#include "dfrost/error.h"
#include "network/mpi/communicator.h"
#include "run/run.h"

namespace dfrost {

class Cluster final : public RunPlace {
 public:
  // All ranks make theirs at once. The communicator must outlive it. With rank 0's object the others go home.
  explicit Cluster(Communicator& ranks);
  ~Cluster() override;
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  bool leads() const { return ranks_.rank() == 0; }
  const std::vector<RankPlace>& places() const { return places_; }

  // The ranks of a host share its large matrices.
  std::unique_ptr<Backbone> make_model(const WeightSource& source, const BackboneOptions& options,
                                       const std::string& weights) override {
    return model_.make(source, options, weights);
  }
  // For rank 0. Throws (failed_precondition) where a rank has read something else, or could not read it.
  std::unique_ptr<Workforce> gather(const Groundwork& ground, const std::string& weights) override;
  // Whether the others are in the middle of something that this rank has left by an exception: they wait for
  // letters that will not come, and only Communicator::abort() ends them.
  bool left_others_waiting() const { return busy_; }

  void can_save(const std::function<std::size_t()>& save) override;

  // For all, once: from here on a signal that ends the job is told of by `tell`, of one rank of each host,
  // once rank 0 has saved all rounds that are done, and ends the process. `folder` says which is the run's.
  void heed_signals(Lookout& lookout, std::function<std::filesystem::path()> folder,
                    std::function<void(const Error&)> tell);

  // For all others: does what rank 0 asks for until it sends them home. `load` may throw: rank 0 is told.
  void follow(const std::function<RunConfig()>& load);

 private:
  class Leader;
  void follow_orders(const RunConfig& config);
  std::vector<std::size_t> lost_ranks() const;
  bool speaks_for_host() const;
  Error farewell(const std::function<std::filesystem::path()>& folder);
  void dismiss();

  Communicator& ranks_;
  std::vector<RankPlace> places_;
  HostModel model_;
  std::vector<Workforce::Doubt> unshared_;  // ranks with a model of their own
  bool greeted_ = false;                    // the others' greetings have been received
  bool dismissed_ = false;                  // the others have been sent home
  bool busy_ = false;
  std::mutex saving_;
  std::function<std::size_t()> save_;
};

}  // namespace dfrost
