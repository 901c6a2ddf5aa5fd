// `dfrost peer`: one site of a federation; making it, joining and leaving.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <memory>

#include "base/quote.h"
#include "cli/command.h"
#include "dfrost/error.h"
#include "federation/names.h"
#include "federation/revision.h"
#include "federation/site.h"

namespace dfrost::cli {
namespace {

using Json = nlohmann::ordered_json;

struct PeerInitArguments {
  std::string site;
  SiteSettings settings;
  std::string data;
  bool json = false;
};

struct JoinArguments {
  std::string site, file, fingerprint;
  bool yes = false;
  bool json = false;
};

struct LeaveArguments {
  std::string site;
  bool json = false;
};

struct PeerExplainArguments {
  bool markdown = false;
  bool json = false;
};

// Who can be reached listens: on every address of the machine, on the port that the others dial.
void fill_in_listen(SiteSettings& settings) {
  if (!settings.address.empty() && settings.listen.empty())
    settings.listen = fmt::format("0.0.0.0:{}", parse_address(settings.address).port);
}

void init_site(PeerInitArguments arguments) {
  if (!arguments.data.empty()) arguments.settings.data = std::filesystem::absolute(arguments.data);
  fill_in_listen(arguments.settings);
  const std::filesystem::path folder = arguments.site;
  const auto member_path = make_site(folder, arguments.settings);
  const MemberFile member = load_member(member_path);
  const std::string spoken = read_out(to_string(member.key()));
  if (arguments.json) {
    return print_json({{"name", member.name},
                       {"site", arguments.site},
                       {"member_file", member_path.string()},
                       {"address", member.address},
                       {"listen", arguments.settings.listen},
                       {"key", to_string(member.key())},
                       {"key_fingerprint", spoken}});
  }
  fmt::print("made the site {} in {}\n", member.name, arguments.site);
  fmt::print("{:<12}{}   stays here; keep a backup: a lost key is a lost identity\n", "key",
             key_file(folder).string());
  fmt::print("{:<12}{}   what is this site's own: pictures, port, cores\n", "settings",
             settings_file(folder).string());
  fmt::print("{:<12}{}   send it to the founder of the federation\n", "to send", member_path.string());
  fmt::print("{:<12}{}   of its key, to read out on the phone\n", "fingerprint", spoken);
}

bool agreed_on_terminal() {
  if (::isatty(STDIN_FILENO) == 0) return false;
  tell("is that what the founder reads out? [y/N] ");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

// That the file is the founder's, by what people told each other. A revision that follows the joined one is
// signed by the key that was compared before.
void require_agreement(const JoinArguments& arguments, const Site& site, const Federation& federation) {
  const std::string printed = federation.fingerprint();
  if (!arguments.fingerprint.empty()) {
    if (same_fingerprint(arguments.fingerprint, printed)) return;
    throw Error(ErrorCode::permission_denied,
                fmt::format("the fingerprint of {} is {}, not {}", arguments.file, printed,
                            quote_name(arguments.fingerprint)),
                "this is not the file that the founder means: have it sent again")
        .at("--fingerprint");
  }
  const bool known = site.federation && succession(*site.federation, federation) != Succession::stranger;
  if (known || arguments.yes) return;
  tell(fmt::format("{}, revision {}, fingerprint {}\n", federation.name, federation.revision, printed));
  if (agreed_on_terminal()) return;
  throw Error(
      ErrorCode::invalid_argument, "not joined: nobody has said that this is the founder's file",
      fmt::format("compare the fingerprint with the founder's by phone, then join with --fingerprint {}",
                  printed));
}

void join(const JoinArguments& arguments) {
  const Site site = open_site(arguments.site);
  const std::string text = read_federation_text(arguments.file);
  const Federation federation = parse_federation_at(text, arguments.file);
  check_joinable(site, federation);
  check_reachable(federation);
  require_agreement(arguments, site, federation);
  join_federation(site, text);
  const Member& self = *federation.find(site.key.fingerprint());
  if (arguments.json) {
    return print_json({{"federation", federation.name},
                       {"revision", federation.revision},
                       {"fingerprint", federation.fingerprint()},
                       {"number", self.number},
                       {"name", self.name},
                       {"members", federation.members.size()}});
  }
  fmt::print("{} joined {}, revision {}, as member {} of {}\n", self.name, federation.name,
             federation.revision, self.number, federation.members.size());
  fmt::print("next: dfrost peer check {}\n", arguments.site);
}

void leave(const LeaveArguments& arguments) {
  const Site site = open_site(arguments.site);
  const std::string federation = site.joined().name, name = site.self().name;
  leave_federation(site);
  const std::string founder =
      fmt::format("dfrost federation remove {}.federation {} --from-round R --as SITE", federation, name);
  if (arguments.json)
    return print_json({{"federation", federation}, {"name", name}, {"founders_command", founder}});
  fmt::print("{} has left {}: 'dfrost peer start' refuses until it joins again\n", name, federation);
  fmt::print("its key and its run are kept\n");
  fmt::print("the others wait for it no longer than for any that is gone; for good, the founder runs\n  {}\n",
             founder);
}

void explain_site(const PeerExplainArguments& arguments) {
  if (arguments.markdown) return fmt::print("{}", site_reference_page());
  const SiteSettings usual;
  Json list = Json::array();
  for (const auto& key : site_keys()) {
    if (!arguments.json) fmt::print("{:<18} {}\n", key.name, key.comment);
    list.push_back({{"key", key.name},
                    {"takes", describe_values(key.field)},
                    {"default", toml_value(key, usual)},
                    {"comment", key.comment},
                    {"explanation", key.explanation}});
  }
  if (arguments.json) print_json(list);
}

void add_peer_init_command(CLI::App& peer) {
  auto* command = add_command(
      peer, "init", "Make a site: its key, its settings and the file that the founder needs.",
      {"dfrost peer init site --name clinic-a --address a.example:7443 --data pictures",
       "dfrost peer init site --name clinic-b --data pictures    behind NAT: it dials the others"});
  auto arguments = std::make_shared<PeerInitArguments>();
  auto& settings = arguments->settings;
  command->add_option("site", arguments->site, "The folder to make")->required();
  command->add_option("--name", settings.name, "What the others call it: letters, digits and . _ -")
      ->required();
  command->add_option("--address", settings.address, "Where the others reach it: host:port");
  command->add_option("--listen", settings.listen, "Where it listens here [0.0.0.0 and the address's port]");
  auto* data =
      command->add_option("--data", arguments->data, "Its pictures: a folder with one subfolder per class");
  command
      ->add_flag("--partition", settings.partition,
                 "Take its share of the experiment's own data sets, as 'dfrost run' deals them")
      ->excludes(data);
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { init_site(*arguments); });
}

void add_peer_join_command(CLI::App& peer) {
  auto* command = add_command(
      peer, "join", "Take part in a federation, or take over a later revision of its file.",
      {"dfrost peer join site five.federation --fingerprint 7F3A-…    as the founder reads it out"});
  auto arguments = std::make_shared<JoinArguments>();
  command->add_option("site", arguments->site, "The site's folder")->required();
  command->add_option("federation", arguments->file, "The file that the founder sent")->required();
  command->add_option("--fingerprint", arguments->fingerprint, "What the founder reads out");
  command->add_flag("--yes", arguments->yes,
                    "Join without comparing: only where nobody could change the file");
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { join(*arguments); });
}

void add_peer_leave_command(CLI::App& peer) {
  auto* command =
      add_command(peer, "leave", "Take part no more; key and run are kept.", {"dfrost peer leave site"});
  auto arguments = std::make_shared<LeaveArguments>();
  command->add_option("site", arguments->site, "The site's folder")->required();
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { leave(*arguments); });
}

void add_peer_explain_command(CLI::App& peer) {
  auto* command =
      add_command(peer, "explain", "What the keys of a site's peer.toml mean.", {"dfrost peer explain"});
  auto arguments = std::make_shared<PeerExplainArguments>();
  command->add_flag("--markdown", arguments->markdown, "Print the reference page");
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { explain_site(*arguments); });
}

}  // namespace

void add_peer_commands(CLI::App& app) {
  auto* peer = add_command(app, "peer", "One site of a federation between several, without a server.",
                           {"dfrost peer init site --name clinic-a --address a.example:7443",
                            "dfrost peer join site five.federation", "dfrost peer check site"});
  peer->require_subcommand(1);
  add_peer_init_command(*peer);
  add_peer_join_command(*peer);
  add_peer_check_command(*peer);
  add_peer_start_command(*peer);
  add_peer_status_command(*peer);
  add_peer_leave_command(*peer);
  add_peer_explain_command(*peer);
}

}  // namespace dfrost::cli
