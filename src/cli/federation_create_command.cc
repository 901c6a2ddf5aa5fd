// `dfrost federation create | add | remove`: what only the founder does.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/backbone_path.h"
#include "cli/command.h"
#include "config/settings_identity.h"
#include "config/toml_file.h"
#include "dfrost/error.h"
#include "federation/founding.h"
#include "federation/revision.h"
#include "federation/site.h"

namespace dfrost::cli {
namespace {

struct CreateArguments {
  std::string config, site, out, name;
  std::vector<std::string> members, overrides;
  std::size_t quorum = 0;
  bool json = false;
};

struct ChangeArguments {
  std::string file, what, site, out;
  std::uint64_t from_round = 0;
  bool json = false;
};

// What was written, as whoever gets the file will read it.
void print_written(const std::filesystem::path& file, bool json, std::string_view done) {
  const Federation federation = load_federation(file);
  const RunConfig config = federation.config();
  if (json) {
    return print_json({{"file", file.string()},
                       {"name", federation.name},
                       {"revision", federation.revision},
                       {"fingerprint", federation.fingerprint()},
                       {"members", federation.members.size()},
                       {"run_id", to_string(run_id(config, config.backbone.precision))}});
  }
  fmt::print("{}: wrote {}, {}, revision {}, {} members\n", done, file.string(), federation.name,
             federation.revision, federation.members.size());
  fmt::print("fingerprint  {}   read it out to the members by phone\n", federation.fingerprint());
  fmt::print("next         mail the file; each member runs\n  dfrost peer join SITE {} --fingerprint {}\n",
             file.filename().string(), federation.fingerprint());
}

void create(const CreateArguments& arguments) {
  if (std::filesystem::exists(arguments.out))
    throw Error(ErrorCode::invalid_argument, fmt::format("{} is already there", arguments.out),
                "name another file; 'dfrost federation add' and 'remove' change one")
        .at("--out");
  const RunConfig config = load_config(arguments.config, arguments.overrides);
  const PrivateKey founder = load_site_key(arguments.site);
  std::vector<MemberFile> members;
  for (const auto& file : arguments.members) members.push_back(load_member(file));
  const Federation federation = found_federation(config, members,
                                                 {.name = arguments.name,
                                                  .quorum = arguments.quorum,
                                                  .backbone = find_backbone(config.backbone.path.string())},
                                                 founder);
  save_federation(arguments.out, federation, founder);
  print_written(arguments.out, arguments.json, "founded");
}

// Makes the next revision, over the file or beside it.
template <typename Change>
void change_federation(const ChangeArguments& arguments, std::string_view done, const Change& change) {
  const Federation federation = load_federation(arguments.file);
  const PrivateKey founder = load_site_key(arguments.site);
  require_founder(federation, founder);
  const std::string out = arguments.out.empty() ? arguments.file : arguments.out;
  save_federation(out, change(federation), founder);
  print_written(out, arguments.json, done);
}

void declare_change(CLI::App& command, ChangeArguments& arguments, const char* what) {
  command.add_option("file", arguments.file, "The federation file, its last revision")->required();
  command.add_option("member", arguments.what, what)->required();
  command.add_option("--from-round", arguments.from_round, "The first round in which it is so")->required();
  command.add_option("--as", arguments.site, "The founder's site, whose key signs")->required();
  command.add_option("--out", arguments.out, "Where the new revision goes [in place of the file]");
  add_json_flag(command, arguments.json);
}

}  // namespace

void add_federation_create_command(CLI::App& federation) {
  auto* command = add_command(
      federation, "create", "Make the signed file that all members join: an experiment and who takes part.",
      {"dfrost federation create five.toml --as site *.member --out five.federation",
       "dfrost federation create five.toml --as site a.member b.member --out two.federation \\",
       "    --set partition.clients_per_domain=2 --quorum 2"});
  auto arguments = std::make_shared<CreateArguments>();
  command->add_option("config", arguments->config, "The experiment, as 'dfrost run' takes it")->required();
  command->add_option("members", arguments->members, "The members' files; their order gives the numbers")
      ->required();
  command->add_option("--as", arguments->site, "The founder's site, whose key signs")->required();
  command->add_option("--out", arguments->out, "The file to write")->required();
  command->add_option("--quorum", arguments->quorum, "Members that must be linked before round 1 [all]");
  command->add_option("--name", arguments->name, "What it is called [run.name of the experiment]");
  add_set_option(*command, arguments->overrides);
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { create(*arguments); });
}

void add_federation_change_commands(CLI::App& federation) {
  auto* add =
      add_command(federation, "add", "A new revision of the file with one member more.",
                  {"dfrost federation add five.federation clinic-f.member --from-round 12 --as site"});
  auto added = std::make_shared<ChangeArguments>();
  declare_change(*add, *added, "The file that the new member sent");
  add->callback([added] {
    change_federation(*added, "added", [&](const Federation& before) {
      return with_member(before, load_member(added->what), added->from_round);
    });
  });
  auto* remove = add_command(federation, "remove", "A new revision of the file without a member.",
                             {"dfrost federation remove five.federation clinic-b --from-round 12 --as site"});
  auto removed = std::make_shared<ChangeArguments>();
  declare_change(*remove, *removed, "The member's name, or its file");
  remove->callback([removed] {
    change_federation(*removed, "removed", [&](const Federation& before) {
      const bool is_file = std::filesystem::path(removed->what).extension() == ".member";
      return without_member(before, is_file ? load_member(removed->what).name : removed->what,
                            removed->from_round);
    });
  });
}

}  // namespace dfrost::cli
