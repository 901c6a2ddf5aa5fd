#include "federation/site_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "backbone/backbone_names.h"
#include "backbone/weights_fingerprint.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "dfrost/error.h"
#include "federation/portable_config.h"

namespace dfrost {
namespace {

// "'a', 'b', 'c' and 17 more".
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 12;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) shown.push_back(quote_name(names[i]));
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

// The federation's classes as a folder would call them, and their labels.
struct Candidate {
  std::string domain, name;
  int label = 0;
};

std::vector<Candidate> candidates_of(const std::vector<std::string>& all, const std::string& domain) {
  std::vector<Candidate> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto slash = all[i].find('/');
    Candidate candidate{all[i].substr(0, slash), all[i].substr(slash + 1), static_cast<int>(i)};
    if (domain.empty() || candidate.domain == domain) found.push_back(std::move(candidate));
  }
  return found;
}

}  // namespace

ClassMatch match_classes(const std::vector<std::string>& classes, const std::vector<std::string>& all,
                         const std::string& domain) {
  const auto candidates = candidates_of(all, domain);
  if (candidates.empty())
    throw Error(ErrorCode::failed_precondition,
                fmt::format("the federation has no domain {}", quote_name(domain)),
                fmt::format("its classes are {}", listed(all)));
  ClassMatch match;
  std::vector<std::string> unknown, known;
  std::vector<bool> taken(all.size(), false);
  for (const auto& name : classes) {
    const auto first = std::ranges::find(candidates, name, &Candidate::name);
    if (first == candidates.end()) {
      unknown.push_back(name);
      continue;
    }
    const auto second = std::ranges::find(first + 1, candidates.end(), name, &Candidate::name);
    if (second != candidates.end())
      throw Error(ErrorCode::failed_precondition,
                  fmt::format("the class {} is one of {} and one of {}", quote_name(name), first->domain,
                              second->domain),
                  "say whose pictures these are, by 'domain' in peer.toml");
    match.labels.push_back(first->label);
    taken[static_cast<std::size_t>(first->label)] = true;
  }
  for (const auto& candidate : candidates) {
    known.push_back(candidate.name);
    if (!taken[static_cast<std::size_t>(candidate.label)]) match.missing.push_back(candidate.name);
  }
  if (!unknown.empty())
    throw Error(ErrorCode::failed_precondition,
                fmt::format("the federation does not know the class{} {}; it knows {}",
                            unknown.size() == 1 ? "" : "es", listed(unknown), listed(known)),
                did_you_mean(unknown.front(), known, "rename the folders, or move them away"));
  return match;
}

std::filesystem::path find_site_backbone(const Site& site) {
  const auto wanted = site.config().backbone.path;
  const auto found = locate_backbone(wanted);
  std::error_code absent;
  if (found && std::filesystem::exists(*found, absent)) return *found;
  throw Error(ErrorCode::not_found,
              fmt::format("the frozen model {} is not here", quote_name(wanted.string())),
              "fetch it by 'dfrost backbone get', or say where it lies, by 'backbone' in peer.toml");
}

std::unique_ptr<Checkpoint> site_backbone(const Site& site) {
  const Federation& federation = site.joined();
  const RunConfig config = site.config();
  const auto path = find_site_backbone(site);
  try {
    resolve_precision(config.backbone.precision);
  } catch (const Error& error) {
    throw Error(ErrorCode::failed_precondition, error.what(),
                "ask the founder for a federation with --set backbone.precision=fp32")
        .at("backbone.precision");
  }
  auto checkpoint = open_checkpoint(path, config.backbone.checkpoint_options());
  const auto fingerprint = weights_fingerprint(*checkpoint);
  if (fingerprint == federation.backbone_fingerprint) return checkpoint;
  throw Error(ErrorCode::failed_precondition,
              fmt::format("its weights are others: {} here, {} in the federation", fingerprint,
                          federation.backbone_fingerprint),
              "get the very model that the founder has, and name it by 'backbone' in peer.toml")
      .at(path.string());
}

}  // namespace dfrost
