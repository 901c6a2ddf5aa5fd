#include "records/about.h"

#include <fmt/chrono.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/content_hash.h"
#include "base/json.h"
#include "base/version.h"
#include "dfrost/error.h"
#include "kernels/cpu.h"
#include "records/record_json.h"

namespace dfrost {
namespace {

using Json = nlohmann::ordered_json;

std::string now_utc() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

Json domains_json(const Corpus& corpus) {
  Json domains = Json::array();
  for (const auto& domain : corpus.domains) {
    domains.push_back({{"name", domain.name},
                       {"classes", domain.class_names},
                       {"first_label", domain.first_class},
                       {"train", domain.train_count},
                       {"test", domain.test_count},
                       {"test_fingerprint", test_fingerprint(corpus, domain)}});
  }
  return domains;
}

Json clients_json(const Participants& participants) {
  Json clients = Json::array();
  const Partition& partition = participants.partition;
  const auto homes = home_domains(partition, participants.corpus);
  for (std::size_t u = 0; u < homes.size(); ++u) {
    Json client = {{"domain", homes[u] ? Json(*homes[u]) : Json()},
                   {"samples", partition.clients[u].size()},
                   {"prompts", participants.prompts[u]}};
    if (!partition.names.empty()) client["name"] = partition.names[u];
    if (u < participants.hostile.size() && participants.hostile[u]) client["hostile"] = true;
    clients.push_back(std::move(client));
  }
  return clients;
}

Json ranks_json(const std::vector<RankShare>& ranks) {
  Json list = Json::array();
  for (const auto& rank : ranks)
    list.push_back(
        {{"host", rank.host}, {"threads", rank.threads}, {"work", rank.work}, {"clients", rank.clients}});
  return list;
}

}  // namespace

Json about_json(const RunConfig& config, const Participants& participants, const Backbone& backbone,
                std::string_view family, const std::string& command) {
  const Geometry& geometry = backbone.geometry();
  const Corpus& corpus = participants.corpus;
  Json about = {{"schema", kRecordSchema},
                {"name", config.run.name},
                {"method", config.method.name},
                {"seed", config.run.seed},
                {"version", version()},
                {"started", now_utc()},
                {"command", command},
                {"working_folder", std::filesystem::current_path().string()},
                {"machine",
                 {{"cpu", cpu_summary()},
                  {"cores", std::thread::hardware_concurrency()},
                  {"threads", participants.threads},
                  {"precision", to_string(backbone.precision())}}},
                {"backbone",
                 {{"name", config.backbone.path.filename().string()},
                  {"family", family},
                  {"width", geometry.width},
                  {"depth", geometry.depth},
                  {"patch", geometry.patch_size},
                  {"image_size", geometry.image_size}}},
                {"domains", domains_json(corpus)},
                {"clients", clients_json(participants)},
                {"partition", count_table(participants.partition, corpus.train.labels, corpus.classes())}};
  if (!participants.ranks.empty()) about["ranks"] = ranks_json(participants.ranks);
  return about;
}

std::string test_fingerprint(const Corpus& corpus, const Domain& domain) {
  ContentHash hash;
  for (std::size_t i = domain.first_test; i < domain.first_test + domain.test_count; ++i) {
    const PictureRecord& record = corpus.test.records[i];
    const int label = corpus.test.labels[i] - domain.first_class;
    hash.add(std::span(corpus.test.bytes).subspan(record.offset, record.size));
    hash.add(std::span(&label, 1));
  }
  return hash.hex();
}

void continue_about(std::string_view before, std::size_t after_round, Json& about) {
  const Json old = parse_own_json(before);
  // Where it is damaged, this start is all that is known.
  const auto kept = [&](const char* name, const Json& otherwise) {
    return old.is_object() ? old.value(name, otherwise) : otherwise;
  };
  about["resumed"] = kept("resumed", Json::array());
  if (!about["resumed"].is_array()) about["resumed"] = Json::array();
  about["resumed"].push_back(
      {{"after_round", after_round}, {"time", about["started"]}, {"version", version()}});
  about["started"] = kept("started", about["started"]);
}

void require_same_test_pictures(std::string_view about, const Corpus& corpus) {
  const Json known = parse_own_json(about);
  if (!known.is_object() || !known.contains("domains")) return;
  for (const auto& then : known["domains"]) {
    if (!then.is_object() || !then.contains("name") || !then.contains("test_fingerprint")) continue;
    for (const auto& domain : corpus.domains) {
      if (then["name"] != domain.name || then["test_fingerprint"] == test_fingerprint(corpus, domain))
        continue;
      throw Error(ErrorCode::failed_precondition,
                  fmt::format("{} has changed since the run: its test pictures are others ({} then, {} now)",
                              domain.name, then.value("test", Json()).dump(), domain.test_count),
                  fmt::format("score it on what is there now by --data {}=PATH; pictures that it was trained "
                              "on may be among them",
                              domain.name))
          .at(domain.name);
    }
  }
}

}  // namespace dfrost
