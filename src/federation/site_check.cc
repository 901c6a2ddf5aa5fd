#include "federation/site_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <future>
#include <optional>

#include "backbone/moments_file.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/version.h"
#include "data/image_folder.h"
#include "dfrost/error.h"
#include "federation/listening.h"
#include "federation/names.h"
#include "federation/site.h"
#include "federation/site_data.h"
#include "federation/wire_setup.h"
#include "network/tls/tls_network.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;
using Checks = std::vector<SiteCheck>;

// What `look` says, or what was wrong.
void look_at(Checks& checks, const std::string& subject, const std::function<SiteCheck()>& look,
             Finding problem = Finding::file_problem) {
  try {
    checks.push_back(look());
  } catch (const Error& error) {
    const std::string place = error.place().empty() ? "" : fmt::format(" ({})", error.place());
    checks.push_back({.finding = problem, .what = error.what() + place, .hint = error.hint()});
  } catch (const std::exception& error) {
    checks.push_back({.finding = problem, .what = error.what()});
  }
  checks.back().subject = subject;
}

SiteCheck good(std::string what) { return {.finding = Finding::good, .what = std::move(what)}; }
SiteCheck note(std::string what, std::string hint = {}) {
  return {.finding = Finding::note, .what = std::move(what), .hint = std::move(hint)};
}

bool is_running(const fs::path& folder) {
  try {
    const FolderLock lock(folder);
    return false;
  } catch (const Error& error) {
    return error.code() == ErrorCode::failed_precondition;
  }
}

SiteCheck check_membership(const Site& site) {
  const Federation& federation = site.joined();
  const Member& self = site.self();
  const std::string text = fmt::format("{}, revision {}, signed; member {} of {}", federation.name,
                                       federation.revision, self.number, federation.members.size());
  if (self.name != site.settings.name)
    return note(fmt::format("{}; it calls this site {}, peer.toml {}", text, self.name, site.settings.name),
                "write the federation's name into peer.toml");
  if (self.address != site.settings.address)
    return note(fmt::format("{}; the others dial '{}', peer.toml says '{}'", text, self.address,
                            site.settings.address),
                "what the others know counts: ask the founder for a revision with the new address");
  if (self.until_round != 0) return note(fmt::format("{}; only until round {}", text, self.until_round));
  return good(text);
}

SiteCheck check_version(const Site& site) {
  const std::string& theirs = site.joined().software;
  if (theirs == version()) return good(fmt::format("dfrost {}, as the founder's", version()));
  return note(fmt::format("dfrost {} here, {} made the federation file", version(), theirs),
              "results are the same byte for byte only with one version at all sites");
}

SiteCheck check_own_pictures(const Site& site) {
  const auto classes = image_folder_classes(site.settings.data);
  if (classes.empty())
    throw Error(ErrorCode::not_found, "there are no class folders in it",
                "put the pictures of each class into a subfolder of that name")
        .at(site.settings.data.string());
  const auto match = match_classes(classes, site.joined().classes, site.settings.domain);
  if (!is_image_folder(site.settings.data))
    throw Error(ErrorCode::not_found, "there is no picture in its folders", "PNG and JPEG files are read")
        .at(site.settings.data.string());
  const std::string text = fmt::format("{}: {} classes of the federation's {}", site.settings.data.string(),
                                       match.labels.size(), site.joined().classes.size());
  if (match.missing.empty() || match.missing.size() > 8) return good(text);
  return good(fmt::format("{}; without {}", text, fmt::join(match.missing, ", ")));
}

SiteCheck check_partition_data(const Site& site) {
  const RunConfig config = site.config();
  if (const auto clients = config.clients(); clients && site.number() >= *clients)
    throw Error(
        ErrorCode::failed_precondition,
        fmt::format("the experiment deals its pictures to {} clients, and this is member {}: it has no "
                    "share",
                    *clients, site.number()),
        "give it pictures of its own: 'data' instead of 'partition' in peer.toml");
  const auto corpus = config.corpus();
  std::vector<std::string> absent;
  for (const auto& domain : corpus.domains) {
    if (!locate_dataset(domain, corpus.root)) absent.push_back(domain.name);
  }
  if (absent.empty()) return good(fmt::format("all {} data sets of the experiment", corpus.domains.size()));
  const bool known = find_dataset_info(absent.front()) != nullptr;
  throw Error(ErrorCode::not_found, fmt::format("not here: {}", fmt::join(absent, ", ")),
              fmt::format("{}, or say where they lie, by 'data_root' in peer.toml",
                          known ? fmt::format("'dfrost data get {}'", absent.front())
                                : fmt::format("put them into a folder '{}' there", absent.front())))
      .at(corpus.root.string());
}

SiteCheck check_pictures(const Site& site) {
  if (site.settings.partition) return check_partition_data(site);
  if (!site.settings.data.empty()) return check_own_pictures(site);
  throw Error(ErrorCode::failed_precondition, "peer.toml names no pictures",
              "set 'data' to a folder with one subfolder per class, or 'partition = true'");
}

// Sites with others train in other coordinates: heads fit all the same, but results are others.
SiteCheck check_moments(const Site& site) {
  const auto model = site_backbone(site);
  const auto path = find_site_backbone(site);
  const auto moments = moments_beside(path, moments_origin(*model, site.joined().backbone_fingerprint));
  return good(fmt::format("{}, of {:.0f} pictures: {}",
                          moments_file(path, model->geometry().image_size).string(), moments.count,
                          moments_fingerprint(moments)));
}

// Two savepoints, with moments where they are kept, the adapter, and a few kilobytes a round.
std::uintmax_t needed_bytes(const RunConfig& config, std::size_t classes, std::size_t width) {
  const std::uintmax_t prompts = config.prompts_of(0).held();
  const std::uintmax_t state = 4 * (prompts * width + classes * (width + 1) + width * width);
  return 8 * state + 16'384 * static_cast<std::uintmax_t>(config.run.rounds) + (16u << 20);
}

SiteCheck check_disk(const Site& site, std::size_t width) {
  const auto needed = needed_bytes(site.config(), site.joined().classes.size(), width);
  const auto free = fs::space(site.folder).available;
  const auto text = fmt::format("{} MB free, the run takes about {} MB", free >> 20, (needed >> 20) + 1);
  if (free >= needed) return good(text);
  throw Error(ErrorCode::resource_exhausted, text, "make room, or move the site's folder to another disk");
}

SiteCheck check_listening(const Site& site) {
  if (site.settings.listen.empty()) return good("does not listen: it dials the others");
  try_to_listen(parse_listen_address(site.settings.listen));
  return good(fmt::format("{} is free", site.settings.listen));
}

SiteCheck describe_probe(const Member& member, const Probe& probe) {
  const std::string time = fmt::format("{:.0f} ms", 1000 * probe.seconds);
  if (!probe.welcomed) {
    const char* how_far = probe.tls       ? "its key is right, but it does not welcome us: "
                          : probe.reached ? "somebody answers, but not as this member: "
                                          : "";
    return {.finding = Finding::network_problem,
            .what = fmt::format("{}: {}{}", member.address, how_far, escape_controls(probe.trouble)),
            .hint = probe.hint};
  }
  return good(
      fmt::format("{}: welcomed in {}, dfrost {}", member.address, time, escape_controls(probe.software)));
}

// Those that still take part, a few at a time.
void dial_members(Checks& checks, const Site& site, double timeout_seconds) {
  constexpr std::size_t kAtOnce = 16;
  const WireOptions options = wire_options(site);
  std::vector<const Member*> to_dial;
  for (const auto& member : site.joined().members) {
    if (member.number == site.number()) continue;
    if (member.address.empty()) {
      checks.push_back({"member " + member.name, Finding::note, "has no address: it dials this site"});
    } else if (member.until_round != 1) {
      to_dial.push_back(&member);
    }
  }
  for (std::size_t first = 0; first < to_dial.size(); first += kAtOnce) {
    const auto some = std::span(to_dial).subspan(first, std::min(kAtOnce, to_dial.size() - first));
    std::vector<std::future<Probe>> probes;
    for (const auto* member : some)
      probes.push_back(std::async(std::launch::async, [&, member] {
        return probe_member(options, site.key, member->number, timeout_seconds);
      }));
    for (std::size_t i = 0; i < some.size(); ++i)
      look_at(
          checks, "member " + some[i]->name, [&] { return describe_probe(*some[i], probes[i].get()); },
          Finding::network_problem);
  }
}

}  // namespace

std::string_view to_string(Finding finding) {
  switch (finding) {
    case Finding::good: return "good";
    case Finding::note: return "note";
    case Finding::file_problem: return "file";
    case Finding::network_problem: return "network";
  }
  return "unknown";
}

std::vector<SiteCheck> check_site(const fs::path& folder, const SiteCheckOptions& options) {
  Checks checks;
  look_at(checks, "key", [&] {
    const auto key = load_site_key(folder);
    return good(fmt::format("{}, for its owner alone", key_file(folder).string()));
  });
  look_at(checks, "settings", [&] {
    static_cast<void>(load_site_settings(folder));
    return good(settings_file(folder).string());
  });
  const auto is_good = [](const SiteCheck& check) { return check.finding == Finding::good; };
  if (!std::ranges::all_of(checks, is_good)) return checks;  // all else rests on these
  std::optional<Site> site;
  look_at(checks, "federation", [&] {
    site.emplace(open_site(folder));
    return check_membership(*site);
  });
  if (checks.back().finding == Finding::file_problem) return checks;
  look_at(checks, "version", [&] { return check_version(*site); });
  look_at(checks, "pictures", [&] { return check_pictures(*site); });
  std::size_t width = 1024;
  look_at(checks, "model", [&] {
    const auto model = site_backbone(*site);
    width = model->geometry().width;
    return good(fmt::format("{}, weights {}", find_site_backbone(*site).string(),
                            site->joined().backbone_fingerprint));
  });
  if (site->config().takes_backbone_moments())
    look_at(checks, "moments", [&] { return check_moments(*site); });
  look_at(checks, "disk", [&] { return check_disk(*site, width); });
  if (is_running(folder)) {
    checks.push_back({"network", Finding::note, "this site is running: it holds its links itself",
                      fmt::format("'dfrost peer status {}' shows them", folder.string())});
    return checks;
  }
  look_at(
      checks, "port", [&] { return check_listening(*site); }, Finding::network_problem);
  dial_members(checks, *site, options.timeout_seconds);
  return checks;
}

}  // namespace dfrost
