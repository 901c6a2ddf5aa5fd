#include "partition/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dfrost/error.h"
#include "partition/partition_file.h"

namespace dfrost {
namespace {

// The indices of each class, shuffled.
std::vector<std::vector<std::size_t>> shuffled_classes(std::span<const int> labels, std::size_t classes,
                                                       RandomStream& stream) {
  std::vector<std::vector<std::size_t>> members(classes);
  for (std::size_t i = 0; i < labels.size(); ++i) members[static_cast<std::size_t>(labels[i])].push_back(i);
  for (auto& indices : members) stream.shuffle(std::span(indices));
  return members;
}

// Cuts `indices` in proportion to `shares` (which sum to 1) and hands a piece to each of `receivers`. Cutting
// at the rounded running sum loses nothing and puts every piece within one picture of its share.
void deal(std::span<const std::size_t> indices, std::span<const double> shares,
          std::span<const std::size_t> receivers, Partition& partition) {
  double running = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < receivers.size(); ++i) {
    running += shares[i];
    const bool last = i + 1 == receivers.size();
    const auto end = last ? indices.size()
                          : std::min(indices.size(), static_cast<std::size_t>(std::llround(
                                                         running * static_cast<double>(indices.size()))));
    auto& client = partition.clients[receivers[i]];
    client.insert(client.end(), indices.begin() + static_cast<std::ptrdiff_t>(first),
                  indices.begin() + static_cast<std::ptrdiff_t>(std::max(first, end)));
    first = std::max(first, end);
  }
}

std::vector<std::size_t> first_numbers(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = i;
  return numbers;
}

void sort_clients(Partition& partition) {
  for (auto& client : partition.clients) std::sort(client.begin(), client.end());
}

// shares[class][client], each row summing to 1.
std::vector<std::vector<double>> draw_shares(std::size_t classes, const PartitionOptions& options,
                                             RandomStream& stream) {
  const std::size_t clients = options.clients_per_domain;
  std::vector<std::vector<double>> shares(classes, std::vector<double>(clients));
  if (options.per == DirichletForm::per_class) {
    for (auto& row : shares) row = stream.dirichlet(clients, options.alpha);
    return shares;
  }
  for (std::size_t u = 0; u < clients; ++u) {
    const auto weights = stream.dirichlet(classes, options.alpha);
    for (std::size_t c = 0; c < classes; ++c) shares[c][u] = weights[c];
  }
  for (auto& row : shares) {
    double sum = 0;
    for (const double share : row) sum += share;
    // With a tiny alpha it may be that no client gave this class any weight at all.
    for (double& share : row) share = sum > 0 ? share / sum : 1.0 / static_cast<double>(clients);
  }
  return shares;
}

std::size_t smallest_client(const Partition& partition) {
  std::size_t smallest = partition.clients.front().size();
  for (const auto& client : partition.clients) smallest = std::min(smallest, client.size());
  return smallest;
}

Partition split_domain(std::span<const int> labels, std::size_t classes, const PartitionOptions& options,
                       RandomStream& stream) {
  switch (options.kind) {
    case PartitionKind::dirichlet: return split_dirichlet(labels, classes, options, stream);
    case PartitionKind::extreme: return split_extreme(labels, classes, options, stream);
    default: return split_iid(labels.size(), options, stream);
  }
}

// Draws until every client has enough, or says why that cannot be.
Partition draw_domain(const Domain& domain, std::span<const int> labels, const PartitionOptions& options,
                      Seed seed, std::size_t number) {
  const std::size_t needed = options.min_per_client * options.clients_per_domain;
  if (labels.size() < needed) {
    throw Error(
        ErrorCode::failed_precondition,
        fmt::format("{} has {} training pictures; {} clients with at least {} each need {}", domain.name,
                    labels.size(), options.clients_per_domain, options.min_per_client, needed),
        fmt::format(
            "for a small trial set partition.min_per_client = {}, or use more pictures or fewer clients",
            std::max<std::size_t>(1, labels.size() / options.clients_per_domain / 4)))
        .at("partition.min_per_client");
  }
  std::size_t best = 0;
  for (std::size_t draw = 0; draw < options.max_draws; ++draw) {
    RandomStream stream(seed, "partition", number, draw);
    Partition partition = split_domain(labels, domain.class_names.size(), options, stream);
    const std::size_t smallest = smallest_client(partition);
    if (smallest >= options.min_per_client) return partition;
    best = std::max(best, smallest);
  }
  throw Error(
      ErrorCode::failed_precondition,
      fmt::format("{}: in {} draws of a {} partition no one gave every client {} pictures; the best gave {}",
                  domain.name, options.max_draws, to_string(options.kind), options.min_per_client, best),
      "raise partition.alpha, use more pictures or fewer clients, or lower partition.min_per_client")
      .at("partition.min_per_client");
}

}  // namespace

void PartitionOptions::validate() const {
  const auto refuse = [](const std::string& what, const std::string& key) {
    throw Error(ErrorCode::invalid_argument, what).at("partition." + key);
  };
  if (!(alpha > 0) || !std::isfinite(alpha))
    refuse(fmt::format("alpha must be above 0, not {}", alpha), "alpha");
  if (clients_per_domain == 0) refuse("a domain needs at least one client", "clients_per_domain");
  if (max_draws == 0) refuse("at least one draw is needed", "max_draws");
  if (!(designated_share > 0 && designated_share <= 1)) {
    refuse(fmt::format("the designated share must be above 0 and at most 1, not {}", designated_share),
           "designated_share");
  }
  if (kind == PartitionKind::file && file.empty()) refuse("kind = \"file\" needs the file's name", "file");
}

Partition split_dirichlet(std::span<const int> labels, std::size_t classes, const PartitionOptions& options,
                          RandomStream& stream) {
  Partition partition{std::vector<std::vector<std::size_t>>(options.clients_per_domain)};
  const auto members = shuffled_classes(labels, classes, stream);
  const auto shares = draw_shares(classes, options, stream);
  const auto everybody = first_numbers(options.clients_per_domain);
  for (std::size_t c = 0; c < classes; ++c) deal(members[c], shares[c], everybody, partition);
  sort_clients(partition);
  return partition;
}

std::vector<std::vector<std::size_t>> designated_clients(std::size_t classes, std::size_t clients) {
  std::vector<std::vector<std::size_t>> designated(classes);
  for (std::size_t c = 0; c < classes; ++c) {
    if (clients < classes) {
      designated[c] = {c * clients / classes};
      continue;
    }
    const auto border = [&](std::size_t k) {
      return (2 * k * clients + classes) / (2 * classes);
    };  // rounded
    for (std::size_t u = border(c); u < border(c + 1); ++u) designated[c].push_back(u);
  }
  return designated;
}

Partition split_extreme(std::span<const int> labels, std::size_t classes, const PartitionOptions& options,
                        RandomStream& stream) {
  const std::size_t clients = options.clients_per_domain;
  Partition partition{std::vector<std::vector<std::size_t>>(clients)};
  const auto members = shuffled_classes(labels, classes, stream);
  const auto designated = designated_clients(classes, clients);
  for (std::size_t c = 0; c < classes; ++c) {
    const auto& owners = designated[c];
    std::vector<std::size_t> others;
    for (std::size_t u = 0; u < clients; ++u) {
      if (std::find(owners.begin(), owners.end(), u) == owners.end()) others.push_back(u);
    }
    const std::span<const std::size_t> all = members[c];
    const auto kept = others.empty() ? all.size()
                                     : static_cast<std::size_t>(std::llround(
                                           options.designated_share * static_cast<double>(all.size())));
    deal(all.first(kept), std::vector<double>(owners.size(), 1.0 / static_cast<double>(owners.size())),
         owners, partition);
    if (!others.empty()) deal(all.subspan(kept), stream.dirichlet(others.size(), 1.0), others, partition);
  }
  sort_clients(partition);
  return partition;
}

Partition split_iid(std::size_t count, const PartitionOptions& options, RandomStream& stream) {
  const std::size_t clients = options.clients_per_domain;
  Partition partition{std::vector<std::vector<std::size_t>>(clients)};
  deal(stream.permutation(count), std::vector<double>(clients, 1.0 / static_cast<double>(clients)),
       first_numbers(clients), partition);
  sort_clients(partition);
  return partition;
}

Partition make_partition(const Corpus& corpus, const PartitionOptions& options, Seed seed) {
  options.validate();
  if (options.given) return *options.given;
  if (options.kind == PartitionKind::file) {
    return read_partition(options.file, corpus, options.min_per_client);
  }
  Partition all;
  for (std::size_t d = 0; d < corpus.domains.size(); ++d) {
    const Domain& domain = corpus.domains[d];
    std::vector<int> labels(domain.train_count);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      labels[i] = corpus.train.labels[domain.first_train + i] - domain.first_class;
    }
    for (auto& client : draw_domain(domain, labels, options, seed, d).clients) {
      for (std::size_t& index : client) index += domain.first_train;
      all.clients.push_back(std::move(client));
    }
  }
  return all;
}

std::vector<std::vector<std::size_t>> count_table(const Partition& partition, std::span<const int> labels,
                                                  std::size_t classes) {
  std::vector<std::vector<std::size_t>> table(partition.clients.size(), std::vector<std::size_t>(classes));
  for (std::size_t u = 0; u < partition.clients.size(); ++u) {
    for (const std::size_t index : partition.clients[u])
      ++table[u].at(static_cast<std::size_t>(labels[index]));
  }
  return table;
}

std::vector<std::optional<std::size_t>> home_domains(const Partition& partition, const Corpus& corpus) {
  std::vector<std::optional<std::size_t>> homes;
  for (const auto& client : partition.clients) {
    std::vector<std::size_t> counts(corpus.domains.size(), 0);
    for (const std::size_t index : client) {
      for (std::size_t d = 0; d < corpus.domains.size(); ++d) {
        const Domain& domain = corpus.domains[d];
        if (index >= domain.first_train && index - domain.first_train < domain.train_count) ++counts[d];
      }
    }
    const auto most = std::ranges::max_element(counts);
    if (client.empty() || most == counts.end()) {
      homes.emplace_back();
    } else {
      homes.emplace_back(static_cast<std::size_t>(most - counts.begin()));
    }
  }
  return homes;
}

std::string_view to_string(PartitionKind kind) {
  switch (kind) {
    case PartitionKind::dirichlet: return "dirichlet";
    case PartitionKind::extreme: return "extreme";
    case PartitionKind::iid: return "iid";
    case PartitionKind::file: return "file";
  }
  return "unknown";
}

std::string_view to_string(DirichletForm form) {
  return form == DirichletForm::per_class ? "class" : "client";
}

}  // namespace dfrost
