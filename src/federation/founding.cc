#include "federation/founding.h"

#include <fmt/format.h>

#include <algorithm>

#include "backbone/moments_file.h"
#include "backbone/weights_fingerprint.h"
#include "base/json.h"
#include "base/version.h"
#include "config/toml_file.h"
#include "dfrost/error.h"
#include "federation/methods_of_sites.h"
#include "federation/names.h"
#include "federation/portable_config.h"
#include "partition/partition.h"

namespace dfrost {
namespace {

void check_count(const RunConfig& config, std::size_t members) {
  const auto clients = config.clients();
  if (clients == members) return;
  const std::size_t domains = config.data.domains.size();
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the experiment has {} clients, and {} member file{} given", clients.value_or(0),
                          members, members == 1 ? " is" : "s are"),
              members != 0 && members % domains == 0
                  ? fmt::format("for these members: --set partition.clients_per_domain={}", members / domains)
                  : fmt::format("with {} domains it needs a multiple of {} members", domains, domains))
      .at("partition.clients_per_domain");
}

std::vector<std::string> names_of(const std::string& domain, const std::vector<std::string>& classes) {
  std::vector<std::string> names;
  for (const auto& name : classes) names.push_back(fmt::format("{}/{}", domain, name));
  return names;
}

bool is_here(const RunConfig& config, const DomainSpec& domain) {
  return locate_dataset(domain, config.corpus().root).has_value();
}

}  // namespace

std::vector<std::string> class_list(const RunConfig& config) {
  std::vector<std::string> all;
  const auto add = [&](const std::vector<std::string>& names) {
    all.insert(all.end(), names.begin(), names.end());
  };
  const auto& domains = config.data.domains;
  const auto published = [](const DomainSpec& domain) {
    return domain.path.empty() ? find_dataset_info(domain.name) : nullptr;
  };
  const bool all_here = std::ranges::all_of(domains, [&](const auto& d) { return is_here(config, d); });
  if (!all_here && std::ranges::all_of(domains, published)) {
    for (const auto& domain : domains) add(names_of(domain.name, published(domain)->class_names));
    return all;
  }
  ThreadPool threads(config.run.threads);
  const Corpus corpus = open_corpus(config.corpus(), {.pool = &threads});
  for (const auto& domain : corpus.domains) add(names_of(domain.name, domain.class_names));
  // What cannot be dealt is refused now, not at eight sites; pictures of one's own are not dealt to others.
  if (std::ranges::all_of(domains, published)) make_partition(corpus, config.partition, config.run.seed);
  return all;
}

Federation found_federation(const RunConfig& config, const std::vector<MemberFile>& members,
                            const FoundingOptions& options, const PrivateKey& founder) {
  const RunConfig portable = portable_config(config);
  check_methods_of_sites(config);
  check_count(config, members.size());
  Federation federation;
  federation.name = options.name.empty() ? config.run.name : options.name;
  check_member_name(federation.name);
  federation.software = std::string(version());
  federation.experiment = to_toml(portable);
  if (!is_utf8(federation.experiment))
    throw Error(ErrorCode::invalid_argument, "the experiment has a name that is not UTF-8");
  federation.quorum = options.quorum;
  federation.founder_key = founder.public_key();
  for (const auto& member : members) {
    federation.members.push_back({.number = static_cast<ClientId>(federation.members.size()),
                                  .name = member.name,
                                  .address = member.address,
                                  .public_key = member.public_key});
  }
  const auto model = open_checkpoint(options.backbone, config.backbone.checkpoint_options());
  federation.backbone_fingerprint = weights_fingerprint(*model);
  if (config.takes_backbone_moments())  // what the founder lacks, members will lack
    static_cast<void>(
        moments_beside(options.backbone, moments_origin(*model, federation.backbone_fingerprint)));
  federation.classes = class_list(config);
  check_federation(federation);
  check_reachable(federation);
  return federation;
}

}  // namespace dfrost
