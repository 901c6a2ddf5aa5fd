#include "cli/study_ranks.h"

#include <fmt/format.h>

#include <cstring>

#include "base/json.h"
#include "cli/command.h"
#include "cli/run_on_ranks.h"
#include "cluster/places.h"
#include "network/mpi/launcher.h"

namespace dfrost::cli {
namespace {

std::vector<nlohmann::ordered_json> gather_json(const Communicator& ranks,
                                                const nlohmann::ordered_json& own) {
  const auto text = dump_json(own);
  std::vector<nlohmann::ordered_json> all;
  for (const auto& bytes : ranks.gather_everywhere(std::as_bytes(std::span(text))))
    all.push_back(parse_own_json(
        {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));  // NOLINT: bytes as text
  return all;
}

}  // namespace

StudyRanks::StudyRanks() {
  const auto launch = find_launch();
  if (!launch || (launch->ranks == 1 && !Communicator::exists())) return;
  ranks_ = Communicator::start();
  require_company(*launch, *ranks_);
}

std::vector<std::size_t> StudyRanks::agree_on(const std::vector<std::size_t>& to_do) const {
  if (size() == 1) return to_do;
  return gather_json(*ranks_, to_do).front().get<std::vector<std::size_t>>();
}

std::vector<std::size_t> StudyRanks::own_part(const std::vector<std::size_t>& to_do) const {
  if (size() == 1) return to_do;
  std::vector<std::size_t> own;
  for (std::size_t i = ranks_->rank(); i < to_do.size(); i += ranks_->size()) own.push_back(to_do[i]);
  return own;
}

StudyPlan StudyRanks::with_own_threads(StudyPlan plan) const {
  if (size() == 1) return plan;
  const auto threads = threads_of_ranks(gather_places(*ranks_), 0)[ranks_->rank()];
  for (auto& run : plan.runs) {
    if (run.config.run.threads == 0) run.config.run.threads = threads;
  }
  return plan;
}

StudyOutcome StudyRanks::together(const StudyOutcome& own) const {
  if (size() == 1) return own;
  nlohmann::ordered_json json = {{"not_begun", own.not_begun}, {"failures", nlohmann::ordered_json::array()}};
  for (const auto& failure : own.failures) json["failures"].push_back({failure.folder, failure.what});
  StudyOutcome all;
  for (const auto& one : gather_json(*ranks_, json)) {
    all.not_begun += one.at("not_begun").get<std::size_t>();
    for (const auto& failure : one.at("failures"))
      all.failures.push_back({failure.at(0).get<std::string>(), failure.at(1).get<std::string>()});
  }
  return all;
}

void StudyRanks::give_up(const std::exception& error) const {
  if (!leads()) tell(fmt::format("rank {}:\n", ranks_->rank()));
  print_error(error);
  ranks_->abort(exit_code(error));
}

bool speaks_for_ranks() {
  const auto launch = find_launch();
  return !launch || launch->rank == 0;
}

void on_study_ranks(const std::function<void(const StudyRanks&)>& work) {
  const StudyRanks ranks;
  try {
    work(ranks);
  } catch (const std::exception& error) {
    if (ranks.size() == 1) throw;
    ranks.give_up(error);
  }
}

}  // namespace dfrost::cli
