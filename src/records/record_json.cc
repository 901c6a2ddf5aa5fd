#include "records/record_json.h"

#include <cmath>

#include "merge/merge_kinds.h"
#include "records/figure_table.h"

namespace dfrost {
namespace {

using Json = nlohmann::ordered_json;

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

Json rounded(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(rounded(value));
  return json;
}

Json to_json(const std::vector<PlanePoint>& points) {
  Json json = Json::array();
  for (const auto& point : points) json.push_back({rounded(point[0]), rounded(point[1])});
  return json;
}

Json to_json(const RoundGraph& graph) {
  return {{"links", to_json(graph.links)}, {"failed", to_json(graph.failed)}, {"absent", graph.absent}};
}

Json to_json(const std::vector<DefenceRecord::Doubt>& doubts) {
  Json json = Json::array();
  for (const auto& doubt : doubts) json.push_back({doubt.client, doubt.sender});
  return json;
}

// Who doubted whom.
Json to_json(const DefenceRecord& defence) {
  return {{"rejected", to_json(defence.rejected)},
          {"clipped_prompts", to_json(defence.clipped_prompts)},
          {"clipped_heads", to_json(defence.clipped_heads)},
          {"skipped_heads", to_json(defence.skipped_heads)}};
}

// The place of a name such as "evaluation.accuracy_masked.mean", made where it is not there yet.
Json& at(Json& json, std::string_view name) {
  const auto dot = name.find('.');
  if (dot == std::string_view::npos) return json[std::string(name)];
  return at(json[std::string(name.substr(0, dot))], name.substr(dot + 1));
}

Json number(const Figure& figure, double value) {
  const bool whole = figure.form == Form::whole || figure.form == Form::bytes;
  return whole ? Json(static_cast<std::uint64_t>(value)) : Json(value);
}

// What of a round is no figure but a list or a map, behind the figure after which it is written.
void add_lists_after(std::string_view figure, const RoundRecord& r, Json& json) {
  if (figure == "seconds.total") {
    if (r.graph) json["graph"] = to_json(*r.graph);
    if (r.evaluation) json["evaluation"]["clients"] = r.evaluation->clients;
  }
  if (figure == "attack.backdoor_success" && r.attack) json["attack"]["clients"] = r.attack->clients;
  if (figure == "defence.softened_mass" && r.defence) json["defence"]["doubted"] = to_json(*r.defence);
  if (figure == "class_mass.spread" && r.class_mass)
    json["class_mass"]["total"] = rounded(r.class_mass->total);
  if (figure == "privacy.delta" && r.privacy) json["privacy"]["clients"] = rounded(r.privacy->clients);
  if (!r.evaluation) return;
  if (figure == "evaluation.loss") json["evaluation"]["domains"] = to_json(r.evaluation->domains);
  if (figure == "evaluation.network_loss")
    json["evaluation"]["network_domains"] = to_json(r.evaluation->network_domains);
}

}  // namespace

Json to_json(const RoundRecord& r) {
  Json json = {{"schema", kRecordSchema}, {"round", r.round}};
  for (const auto& figure : figures()) {
    if (const auto value = figure.of(r)) at(json, figure.name) = number(figure, *value);
    add_lists_after(figure.name, r, json);
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

Json summary_json(const RunConfig& config, std::size_t clients, const Json& last, const RunTotals& totals,
                  const Json& evaluation) {
  Json round = last;
  Json final = {{"consensus_error", nullptr}};  // stands first, as in every summary so far
  for (const auto& figure : figures()) {
    const bool of_evaluation = figure.name.starts_with("evaluation.");
    // A part that the run's rounds do not have has no place in its summary either.
    const bool has_part = round.contains(figure.name.substr(0, figure.name.find('.')));
    if (figure.summary == Summary::last && !of_evaluation && has_part)
      at(final, figure.name) = at(round, figure.name);
  }
  if (evaluation.is_object()) final.update(evaluation);
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
