// `dfrost federation show | check`: what a federation file says, and whether it holds together.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "config/reference.h"
#include "config/settings_identity.h"
#include "dfrost/error.h"
#include "federation/federation_file.h"
#include "federation/hex.h"

namespace dfrost::cli {
namespace {

using Json = nlohmann::ordered_json;

struct FederationFileArguments {
  std::string file;
  bool json = false;
};

std::string rounds_text(const Member& member, std::size_t rounds) {
  if (member.from_round == 1 && member.until_round == 0) return "all";
  if (member.until_round == 0) return fmt::format("{} to {}", member.from_round, rounds);
  if (member.until_round <= member.from_round) return "none";
  return fmt::format("{} to {}", member.from_round, member.until_round - 1);
}

// Its name where it is a member too.
std::string founder_text(const Federation& federation) {
  const auto key = fingerprint_of(federation.founder_key);
  const Member* member = federation.find(key);
  return fmt::format("{}, key {}", member != nullptr ? member->name : "not a member",
                     read_out(to_string(key)));
}

Json to_json(const Member& member) {
  return {{"number", member.number},
          {"name", member.name},
          {"address", member.address},
          {"key", to_string(member.key())},
          {"from_round", member.from_round},
          {"until_round", member.until_round == 0 ? Json(nullptr) : Json(member.until_round)}};
}

Json to_json(const Federation& federation, const RunConfig& config) {
  Json members = Json::array();
  for (const auto& member : federation.members) members.push_back(to_json(member));
  return {{"name", federation.name},
          {"revision", federation.revision},
          {"fingerprint", federation.fingerprint()},
          {"hash", federation.hash()},
          {"id", to_hex(federation.id().bytes)},
          {"run_id", to_string(run_id(config, config.backbone.precision))},
          {"software", federation.software},
          {"founder", to_string(fingerprint_of(federation.founder_key))},
          {"quorum", federation.quorum},
          {"backbone_fingerprint", federation.backbone_fingerprint},
          {"classes", federation.classes},
          {"history", federation.history},
          {"members", members},
          {"experiment", dfrost::to_json(config)}};
}

void print_members(const Federation& federation, std::size_t rounds) {
  std::size_t name = 4, address = 7;
  for (const auto& member : federation.members) {
    name = std::max(name, member.name.size());
    address = std::max(address, member.address.size());
  }
  fmt::print("\n{:>6}  {:<{}}  {:<{}}  {:<9}  {}\n", "number", "name", name, "address", address, "rounds",
             "key");
  for (const auto& member : federation.members)
    fmt::print("{:>6}  {:<{}}  {:<{}}  {:<9}  {}\n", member.number, member.name, name,
               member.address.empty() ? "dials" : member.address, address, rounds_text(member, rounds),
               read_out(to_string(member.key())));
}

// What the founder compares by phone before anything is founded.
void show_member(const FederationFileArguments& arguments) {
  const MemberFile member = load_member(arguments.file);
  const std::string key = to_string(member.key());
  if (arguments.json) return print_json({{"name", member.name}, {"address", member.address}, {"key", key}});
  fmt::print("{:<13}{}\n", "member", member.name);
  fmt::print("{:<13}{}\n", "address", member.address.empty() ? "none: it dials the others" : member.address);
  fmt::print("{:<13}{}   of its key; compare it by phone\n", "fingerprint", read_out(key));
}

void show_federation(const FederationFileArguments& arguments) {
  if (std::filesystem::path(arguments.file).extension() == ".member") return show_member(arguments);
  const Federation federation = load_federation(arguments.file);
  const RunConfig config = federation.config();
  if (arguments.json) return print_json(to_json(federation, config));
  std::vector<std::string> domains;
  for (const auto& domain : config.data.domains) domains.push_back(domain.name);
  const auto line = [](std::string_view name, const std::string& value) {
    fmt::print("{:<13}{}\n", name, value);
  };
  fmt::print("{}, revision {}\n", federation.name, federation.revision);
  line("fingerprint", federation.fingerprint() + "   read it out to the other members by phone");
  line("founder", founder_text(federation));
  line("method",
       fmt::format("{}, {} rounds, seed {}", config.method.name, config.run.rounds, config.run.seed));
  line("model", fmt::format("{}, {}, weights {}", config.backbone.path.string(),
                            to_string(config.backbone.precision), federation.backbone_fingerprint));
  line("data", fmt::format("{}; {} classes", fmt::join(domains, ", "), federation.classes.size()));
  line("network", std::string(to_string(config.network.topology.kind)));
  line("quorum", federation.quorum == 0 ? std::string("all members before round 1")
                                        : fmt::format("{} members before round 1", federation.quorum));
  line("run id", to_string(run_id(config, config.backbone.precision)));
  line("made by", "dfrost " + federation.software);
  print_members(federation, config.run.rounds);
}

void check_file(const FederationFileArguments& arguments) {
  const Federation federation = load_federation(arguments.file);
  try {
    check_reachable(federation);
  } catch (const Error& error) {
    throw Error(ErrorCode::data_loss, error.what(), error.hint()).at(arguments.file);
  }
  const RunConfig config = federation.config();
  const std::vector<std::pair<std::string, std::string>> checks = {
      {"signature", fmt::format("by {}", founder_text(federation))},
      {"experiment", fmt::format("{}, {} rounds, valid", config.method.name, config.run.rounds)},
      {"members", fmt::format("{} for {} clients, names, keys and addresses given once",
                              federation.members.size(), config.clients().value_or(0))},
      {"reachable", "every pair has an address"}};
  if (arguments.json) {
    Json list = Json::array();
    for (const auto& [subject, what] : checks) list.push_back({{"subject", subject}, {"what", what}});
    return print_json({{"file", arguments.file},
                       {"name", federation.name},
                       {"revision", federation.revision},
                       {"fingerprint", federation.fingerprint()},
                       {"checks", list}});
  }
  for (const auto& [subject, what] : checks) fmt::print("✓ {:<11} {}\n", subject, what);
  fmt::print("fingerprint {}\n", federation.fingerprint());
}

void add_federation_show_command(CLI::App& federation) {
  auto* command = add_command(
      federation, "show", "Who learns together, and what; the fingerprint to compare.",
      {"dfrost federation show five.federation", "dfrost federation show clinic-a.member    who sent this"});
  auto arguments = std::make_shared<FederationFileArguments>();
  command->add_option("file", arguments->file, "A federation file, or a member's")->required();
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { show_federation(*arguments); });
}

void add_federation_check_command(CLI::App& federation) {
  auto* command = add_command(federation, "check",
                              "Whether a federation file is whole and its members can reach each other.",
                              {"dfrost federation check five.federation"});
  auto arguments = std::make_shared<FederationFileArguments>();
  command->add_option("file", arguments->file, "The federation file")->required();
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { check_file(*arguments); });
}

}  // namespace

void add_federation_commands(CLI::App& app) {
  auto* federation =
      add_command(app, "federation", "Who learns together: make, look at and change federation files.",
                  {"dfrost federation create five.toml --as site *.member --out five.federation",
                   "dfrost federation show five.federation"});
  federation->require_subcommand(1);
  add_federation_try_command(*federation);
  add_federation_create_command(*federation);
  add_federation_show_command(*federation);
  add_federation_check_command(*federation);
  add_federation_change_commands(*federation);
}

}  // namespace dfrost::cli
