// What a study shows while it goes on: on a terminal one line for all of it with the time left; into a file
// or a pipe a line for every run that ends. All of it on stderr.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "study/run_study.h"

namespace dfrost::cli {

class StudyDisplay final : public StudyObserver {
 public:
  // `labels`: of the runs; `to_do`: those that are not done, in order, of which so many are made side by
  // side. The plan must outlive it.
  StudyDisplay(bool quiet, std::vector<std::string> labels, const StudyPlan& plan,
               std::vector<std::size_t> to_do, std::size_t side_by_side = 1);

  void on_run(std::size_t run) override;
  void on_run_end(std::size_t run, const std::string& failure) override;
  void on_note(const std::string& text) override;
  void on_warning(const std::string& what, const std::string& hint) override;
  void on_ready(const RunConfig& config, const Simulation& federation, const Backbone& backbone) override;
  void on_progress(const RoundProgress& progress) override;  // throws (cancelled) once told to stop
  void on_round(const RoundRecord& record) override;

 private:
  using Clock = std::chrono::steady_clock;

  double work_of(std::size_t run) const;
  std::string time_left(double share_of_run) const;

  bool quiet_;
  bool terminal_;
  const StudyPlan& plan_;
  std::vector<std::string> labels_;  // by run
  std::vector<std::size_t> to_do_;   // runs that are not done yet, in order
  double side_by_side_;
  std::size_t place_ = 0;  // among those: the one under way
  double work_done_ = 0;   // of those that ended here
  std::size_t round_ = 0, first_round_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point run_start_ = start_;
  Clock::time_point drawn_;
  double last_accuracy_ = -1;
};

}  // namespace dfrost::cli
