// A study's runs among the ranks of an MPI job: each rank takes runs of its own, whole, with its part of the
// host's cores; rank 0 shows its own and makes the page of all. They share the folder of runs. What a run
// comes to does not depend on who ran it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "network/mpi/communicator.h"
#include "study/run_study.h"

namespace dfrost::cli {

class StudyRanks {
 public:
  // Joins the job that a launcher started; without one this process is alone.
  StudyRanks();

  std::size_t size() const { return ranks_ ? ranks_->size() : 1; }
  bool leads() const { return !ranks_ || ranks_->rank() == 0; }

  // What rank 0 found to do, at every rank: others may have looked a little later.
  std::vector<std::size_t> agree_on(const std::vector<std::size_t>& to_do) const;
  // Of those the runs of this rank.
  std::vector<std::size_t> own_part(const std::vector<std::size_t>& to_do) const;
  // The plan with as many threads for each run as this rank may use.
  StudyPlan with_own_threads(StudyPlan plan) const;
  // What became of all, once all are done.
  StudyOutcome together(const StudyOutcome& own) const;

  // Ends all ranks where one cannot go on: the others would wait for it.
  [[noreturn]] void give_up(const std::exception& error) const;

 private:
  std::optional<Communicator> ranks_;
};

// Whether this process speaks for its job: messages of several ranks would be the same.
bool speaks_for_ranks();

// `work` on all ranks; an exception of one ends all.
void on_study_ranks(const std::function<void(const StudyRanks&)>& work);

}  // namespace dfrost::cli
