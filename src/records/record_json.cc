#include "records/record_json.h"

#include <cmath>

#include "merge/merge_kinds.h"

namespace dfrost {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Spread& s) { return {{"mean", s.mean}, {"std", s.std}, {"min", s.min}, {"max", s.max}}; }

Json to_json(const StageSeconds& s) {
  return {{"train", s.train},       {"exchange", s.exchange}, {"merge", s.merge},
          {"evaluate", s.evaluate}, {"measure", s.measure},   {"total", s.total()}};
}

Json to_json(const std::vector<DomainAccuracy>& domains) {
  Json json = Json::object();
  for (const auto& d : domains)
    json[d.name] = {{"accuracy_masked", d.masked}, {"accuracy_unmasked", d.unmasked}};
  return json;
}

Json to_json(const std::vector<Edge>& edges) {
  Json json = Json::array();
  for (const auto& edge : edges) json.push_back({edge.first, edge.second});
  return json;
}

// Four significant digits.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::abs(value))));
  return std::isfinite(scale) ? std::round(value * scale) / scale : 0;
}

Json to_json(const std::vector<PlanePoint>& points) {
  Json json = Json::array();
  for (const auto& point : points) json.push_back({rounded(point[0]), rounded(point[1])});
  return json;
}

Json to_json(const EvaluationRecord& e) {
  return {{"clients", e.clients},
          {"samples", e.samples},
          {"accuracy_masked", to_json(e.accuracy_masked)},
          {"accuracy_unmasked", to_json(e.accuracy_unmasked)},
          {"loss", e.loss},
          {"domains", to_json(e.domains)},
          {"network_accuracy_masked", e.network_accuracy_masked},
          {"network_accuracy_unmasked", e.network_accuracy_unmasked},
          {"network_loss", e.network_loss},
          {"network_domains", to_json(e.network_domains)}};
}

}  // namespace

Json to_json(const RoundRecord& r) {
  Json json = {{"schema", kRecordSchema},
               {"round", r.round},
               {"train_loss", r.train_loss},
               {"images", r.images},
               {"diverged_clients", r.diverged_clients},
               {"consensus_error", r.consensus_error},
               {"consensus_error_total", r.consensus_error_total},
               {"merge_error", r.merge_error},
               {"off_index_mass", r.off_index_mass},
               {"dead_prompts", r.dead_prompts},
               {"mixing_factor", r.mixing_factor},
               {"active_mixing_factor", r.active_mixing_factor},
               {"edges", r.edges},
               {"failed_edges", r.failed_edges},
               {"absent_clients", r.absent_clients},
               {"sent_bytes", r.sent_bytes},
               {"sent_messages", r.sent_messages},
               {"refused_messages", r.refused_messages},
               {"missing_messages", r.missing_messages},
               {"seconds", to_json(r.seconds)}};
  if (r.graph) {
    json["graph"] = {{"links", to_json(r.graph->links)},
                     {"failed", to_json(r.graph->failed)},
                     {"absent", r.graph->absent}};
  }
  if (r.evaluation) json["evaluation"] = to_json(*r.evaluation);
  if (r.theory) {
    json["theory"] = {{"checked", r.theory->checked},
                      {"violated", r.theory->violated},
                      {"largest_ratio", r.theory->largest_ratio}};
  }
  return json;
}

Json to_json(const MergeView& view) {
  Json senders = Json::array();
  for (const auto& sender : view.senders) {
    senders.push_back({{"client", sender.client}, {"points", to_json(sender.points)}});
  }
  Json plan = Json::array();
  for (const auto& flow : view.plan) {
    plan.push_back({flow.sender, flow.prompt, flow.merged_prompt, rounded(flow.share)});
  }
  return {{"schema", kRecordSchema},
          {"round", view.round},
          {"client", view.client()},
          {"kind", word_of(kMergeKinds, view.kind)},
          {"variance", {rounded(view.variance[0]), rounded(view.variance[1])}},
          {"senders", senders},
          {"merged", to_json(view.merged)},
          {"dead", view.dead},
          {"plan", plan}};
}

Json to_json(const RunTotals& totals) {
  return {{"rounds", totals.rounds},
          {"seconds", to_json(totals.seconds)},
          {"sent_bytes", totals.sent_bytes},
          {"images", totals.images}};
}

RunTotals totals_from_json(const Json& json) {
  RunTotals totals;
  const auto& seconds = json.at("seconds");
  totals.rounds = json.at("rounds").get<std::size_t>();
  totals.sent_bytes = json.at("sent_bytes").get<std::uint64_t>();
  totals.images = json.at("images").get<std::uint64_t>();
  totals.seconds = {seconds.at("train").get<double>(), seconds.at("exchange").get<double>(),
                    seconds.at("merge").get<double>(), seconds.at("evaluate").get<double>(),
                    seconds.at("measure").get<double>()};
  return totals;
}

Json summary_json(const RunConfig& config, std::size_t clients, const RoundRecord& last,
                  const RunTotals& totals, const Json& earlier) {
  Json final = {{"consensus_error", last.consensus_error},
                {"train_loss", last.train_loss},
                {"off_index_mass", last.off_index_mass}};
  if (last.evaluation) {
    final.update(to_json(*last.evaluation));
  } else if (earlier.is_object()) {
    final.update(earlier);
  }
  return {{"schema", kRecordSchema},
          {"name", config.run.name},
          {"method", config.method.name},
          {"seed", config.run.seed},
          {"rounds", totals.rounds},
          {"clients", clients},
          {"final", final},
          {"seconds", to_json(totals.seconds)},
          {"sent_bytes", totals.sent_bytes},
          {"images", totals.images}};
}

}  // namespace dfrost
