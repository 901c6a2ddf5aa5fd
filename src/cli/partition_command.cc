#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/file.h"
#include "cli/command.h"
#include "config/toml_file.h"
#include "data/image_file.h"
#include "dfrost/error.h"
#include "draw/heat_map.h"
#include "partition/partition_file.h"

namespace dfrost::cli {
namespace {

using Json = nlohmann::ordered_json;
using Table = std::vector<std::vector<std::size_t>>;

struct PartitionShowArguments {
  std::string config;
  std::vector<std::string> overrides;
  std::string picture;
  std::string save;
  bool json = false;
};

std::string describe(const PartitionOptions& options, Seed seed) {
  std::string text(to_string(options.kind));
  if (options.kind == PartitionKind::dirichlet)
    text += fmt::format(" {} per {}", options.alpha, to_string(options.per));
  if (options.kind == PartitionKind::extreme) text += fmt::format(" {:g} %", 100 * options.designated_share);
  return options.kind == PartitionKind::file ? text : fmt::format("{}, seed {}", text, seed);
}

// The clients that hold any of a domain's pictures, over its classes.
void print_domain(const Domain& domain, const Table& table, std::span<const std::string> names) {
  const auto first = static_cast<std::size_t>(domain.first_class);
  const std::size_t classes = domain.class_names.size();
  std::vector<std::string> clients;
  for (std::size_t u = 0; u < table.size(); ++u)
    clients.push_back(names.empty() ? std::to_string(u) : fmt::format("{} {}", u, names[u]));
  std::size_t width = 8;
  for (const auto& client : clients) width = std::max(width, client.size());
  fmt::print("\n{}: {} training pictures, {} test pictures\n{:<{}}", domain.name, domain.train_count,
             domain.test_count, "client", width);
  for (const auto& name : domain.class_names) fmt::print(" {:>7.7}", name);
  fmt::print(" {:>8}\n", "all");
  for (std::size_t u = 0; u < table.size(); ++u) {
    std::size_t total = 0;
    for (std::size_t c = first; c < first + classes; ++c) total += table[u][c];
    if (total == 0) continue;
    fmt::print("{:<{}}", clients[u], width);
    for (std::size_t c = first; c < first + classes; ++c) fmt::print(" {:>7}", table[u][c]);
    fmt::print(" {:>8}\n", total);
  }
  for (const auto& note : domain.notes) fmt::print("note: {}\n", note);
  if (domain.skipped.count() > 0) fmt::print("note: {} files skipped\n", domain.skipped.count());
}

Json to_json(const Corpus& corpus, const Partition& partition, const Table& table, const RunConfig& config) {
  Json domains = Json::array();
  for (const Domain& domain : corpus.domains) {
    domains.push_back({{"name", domain.name},
                       {"first_class", domain.first_class},
                       {"class_names", domain.class_names},
                       {"train", domain.train_count},
                       {"test", domain.test_count},
                       {"skipped", domain.skipped.count()},
                       {"notes", domain.notes}});
  }
  Json json = {{"kind", to_string(config.partition.kind)},
               {"seed", config.run.seed},
               {"clients", table.size()},
               {"classes", corpus.classes()},
               {"domains", domains},
               {"counts", table}};
  if (!partition.names.empty()) json["client_names"] = partition.names;
  return json;
}

void show_partition(const PartitionShowArguments& arguments) {
  if (arguments.json && arguments.save == "-") {
    throw Error(ErrorCode::invalid_argument, "--save - and --json both want the standard output",
                "save to a file")
        .at("--save");
  }
  const RunConfig config = load_config(arguments.config, arguments.overrides, ConfigScope::data);
  ThreadPool threads;
  const Corpus corpus = open_corpus(config.corpus(), {.pool = &threads});
  const Partition partition = make_partition(corpus, config.partition, config.run.seed);
  const Table table = count_table(partition, corpus.train.labels, corpus.classes());
  const std::string title = describe(config.partition, config.run.seed);
  if (!arguments.picture.empty()) {
    const Image map =
        partition_heat_map(partition, corpus, fmt::format("{} clients, {}", partition.clients.size(), title));
    write_png(arguments.picture, map.view());
  }
  if (arguments.save == "-") return fmt::print("{}", partition_text(partition, corpus));
  if (!arguments.save.empty()) write_file_atomically(arguments.save, partition_text(partition, corpus));
  if (arguments.json) return print_json(to_json(corpus, partition, table, config));
  fmt::print("{} clients, {} classes, {}\n", partition.clients.size(), corpus.classes(), title);
  for (const Domain& domain : corpus.domains) print_domain(domain, table, partition.names);
  if (!arguments.picture.empty()) fmt::print("\nwrote {}\n", arguments.picture);
}

}  // namespace

void add_partition_commands(CLI::App& app) {
  auto* partition =
      add_command(app, "partition", "Who holds which pictures.", {"dfrost partition show experiment.toml"});
  partition->require_subcommand(1);
  auto* command = add_command(
      *partition, "show", "Pictures per client and class, as a table or a heat map.",
      {"dfrost partition show experiment.toml", "dfrost partition show experiment.toml --picture split.png",
       "dfrost partition show experiment.toml --save split.csv   for kind = \"file\""});
  auto arguments = std::make_shared<PartitionShowArguments>();
  command
      ->add_option("config", arguments->config,
                   "An experiment's TOML file: its [data] and [partition] and run.seed")
      ->required();
  add_set_option(*command, arguments->overrides);
  command->add_option("--picture", arguments->picture, "Also draw it as a heat map (PNG)");
  command->add_option("--save", arguments->save,
                      "Also write who holds what, as picture,client lines; - prints them alone");
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { show_partition(*arguments); });
}

}  // namespace dfrost::cli
