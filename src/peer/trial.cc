#include "peer/trial.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "base/thread_pool.h"
#include "dfrost/error.h"
#include "federation/founding.h"
#include "federation/site.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

// Ports of loopback that nobody uses; held together, so that each is another. They lie below those that
// systems give to connections that are made: one of those may be taken again before its site listens on it.
std::vector<std::uint16_t> free_ports(std::size_t count) {
  constexpr unsigned kFirst = 20000, kCount = 12000;
  std::vector<std::uint16_t> ports;
  std::vector<int> sockets;
  const unsigned start = std::random_device{}();
  for (unsigned i = 0; i < kCount && ports.size() < count; ++i) {
    const auto port = static_cast<std::uint16_t>(kFirst + (start + i) % kCount);
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) break;
    sockets.push_back(socket);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    if (::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) ports.push_back(port);
  }
  for (const int socket : sockets) ::close(socket);
  if (ports.size() < count)
    throw Error(ErrorCode::unavailable, "there are not enough free ports on 127.0.0.1");
  return ports;
}

// Pictures that the experiment names by path lie at each site below its data folder, under their name.
fs::path data_root_for(const RunConfig& config, const fs::path& folder) {
  const fs::path usual = config.corpus().root;
  const auto has_path = [](const DomainSpec& domain) { return !domain.path.empty(); };
  if (std::ranges::none_of(config.data.domains, has_path)) return fs::absolute(usual);
  fs::path root = fs::absolute(folder / "data");
  fs::create_directories(root);
  for (const auto& domain : config.data.domains)
    if (has_path(domain)) fs::create_directory_symlink(fs::absolute(domain.path), root / domain.name);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(usual, ignored))
    if (!fs::exists(fs::symlink_status(root / entry.path().filename())))
      fs::create_symlink(fs::absolute(entry.path()), root / entry.path().filename(), ignored);
  return root;
}

}  // namespace

RunConfig with_clients(RunConfig config, std::size_t clients, std::vector<std::string>& changes) {
  const std::size_t domains = config.data.domains.size();
  if (config.partition.kind != PartitionKind::file && config.clients() != clients) {
    if (clients == 0 || clients % domains != 0)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} domains cannot be shared evenly by {} sites", domains, clients),
                  fmt::format("give a multiple of {}, or other domains by --set data.domains=[…]", domains))
          .at("--sites");
    config.partition.clients_per_domain = clients / domains;
    changes.push_back(fmt::format("partition.clients_per_domain = {}", clients / domains));
  }
  auto& topology = config.network.topology;
  const bool has_degree =
      topology.kind == TopologyKind::regular || topology.kind == TopologyKind::erdos_renyi;
  std::size_t degree = std::min(topology.degree, std::max<std::size_t>(clients, 2) - 1);
  if (topology.kind == TopologyKind::regular && degree % 2 == 1 && clients % 2 == 1) --degree;
  if (has_degree && degree != topology.degree) {
    topology.degree = degree;
    changes.push_back(fmt::format("network.degree = {}", degree));
  }
  if (config.network.faults.active_clients > clients) {
    config.network.faults.active_clients = 0;
    changes.emplace_back("network.active_clients = 0");
  }
  return config;
}

Trial make_trial(const RunConfig& config, const TrialOptions& options) {
  const fs::path& folder = options.folder;
  if (fs::exists(folder) && !fs::is_empty(folder))
    throw Error(ErrorCode::already_exists, fmt::format("{} is there already", folder.string()),
                "give another folder by --out, or remove it")
        .at(folder.string());
  const std::size_t count = options.sites != 0 ? options.sites : config.clients().value_or(0);
  Trial trial;
  trial.config = with_clients(config, count, trial.changes);
  trial.config.validate();
  fs::create_directories(folder);
  const auto ports = free_ports(count);
  SiteSettings settings;
  settings.partition = true;
  settings.data_root = data_root_for(config, folder);
  settings.backbone = fs::absolute(config.backbone.path);
  settings.threads = std::max<std::size_t>(1, available_threads() / count);
  settings.heartbeat_seconds = options.heartbeat_seconds;
  std::vector<MemberFile> members;
  for (std::size_t i = 0; i < count; ++i) {
    settings.name = fmt::format("site-{}", i);
    settings.address = settings.listen = fmt::format("127.0.0.1:{}", ports[i]);
    trial.sites.push_back(folder / settings.name);
    members.push_back(load_member(make_site(trial.sites.back(), settings)));
  }
  const PrivateKey founder = load_site_key(trial.sites.front());
  trial.federation = folder / "try.federation";
  const auto federation =
      found_federation(trial.config, members,
                       {.name = {}, .quorum = options.quorum, .backbone = config.backbone.path}, founder);
  save_federation(trial.federation, federation, founder);
  const std::string text = read_federation_text(trial.federation);
  for (const auto& site : trial.sites) join_federation(open_site(site), text);
  return trial;
}

}  // namespace dfrost
