// `dfrost eval`: how well what was trained classifies data sets.
#include <fmt/format.h>

#include <memory>

#include "adapter/adapter_use.h"
#include "base/file.h"
#include "base/thread_pool.h"
#include "cli/adapter_argument.h"
#include "cli/command.h"
#include "cli/picture_arguments.h"
#include "dfrost/error.h"
#include "measure/evaluation.h"
#include "records/about.h"
#include "run/corpus_samples.h"

namespace dfrost::cli {
namespace {

constexpr std::size_t kCacheBytes = std::size_t{256} << 20;

struct EvalArguments {
  std::string adapter, backbone;
  std::vector<std::string> data;
  std::string root, precision = "auto", exif;
  std::optional<std::size_t> samples;
  bool clients = false;
  bool json = false;
};

// "mnist", or "mine=pictures/new".
DomainSpec parse_data(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos) return {.name = text};
  return {.name = text.substr(0, equals), .path = text.substr(equals + 1)};
}

// What is scored on: --data, or else what the run itself was scored on, picture for picture.
struct Pictures {
  CorpusOptions corpus;
  ScoringOptions evaluate;
  Seed seed = 0;
};

Pictures pictures_for(const EvalArguments& arguments, const AdapterArgument& found, const AdapterCard& card) {
  Pictures pictures;
  if (arguments.data.empty()) {
    if (!found.config) {
      throw Error(ErrorCode::invalid_argument,
                  "no data is named, and the adapter lies in no run that says it",
                  fmt::format("name a domain of the adapter, such as --data {}", card.domains.front().name))
          .at("--data");
    }
    pictures = {found.config->corpus(), found.config->scoring(), found.config->run.seed};
  } else {
    pictures.corpus.root = default_data_root();
    pictures.corpus.test_per_domain = 0;
    pictures.corpus.seed = pictures.seed = card.seed;
    pictures.evaluate.samples = 0;
    for (const auto& text : arguments.data) pictures.corpus.domains.push_back(parse_data(text));
  }
  if (!arguments.root.empty()) pictures.corpus.root = arguments.root;
  if (arguments.samples) pictures.evaluate.samples = *arguments.samples;
  if (!arguments.exif.empty()) pictures.corpus.exif = parse_exif(arguments.exif);
  pictures.corpus.test_only = true;
  return pictures;
}

struct Scored {
  std::string model;
  Evaluation evaluation;
};

nlohmann::ordered_json to_json(const Score& score) {
  return {{"samples", score.samples},
          {"accuracy_masked", score.accuracy_masked()},
          {"accuracy_unmasked", score.accuracy_unmasked()},
          {"loss", score.loss()}};
}

nlohmann::ordered_json to_json(const Scored& scored, const Corpus& corpus) {
  nlohmann::ordered_json json = {{"model", scored.model}};
  json.update(to_json(scored.evaluation.total()));
  json["domains"] = nlohmann::ordered_json::object();
  for (std::size_t d = 0; d < corpus.domains.size(); ++d)
    json["domains"][corpus.domains[d].name] = to_json(scored.evaluation.domains[d]);
  return json;
}

Spread spread_over(std::span<const Scored> clients, double (Score::*accuracy)() const) {
  std::vector<double> values;
  for (const auto& client : clients) values.push_back((client.evaluation.total().*accuracy)());
  return spread_of(values);
}

void print_score(std::string_view name, const Score& score) {
  fmt::print("{:<20}  {:>8}  {:>8.2f} %  {:>8.2f} %  {:>8.4f}\n", name, score.samples,
             100 * score.accuracy_masked(), 100 * score.accuracy_unmasked(), score.loss());
}

void print_table(const AdapterCard& card, std::span<const Scored> scored, const Corpus& corpus) {
  fmt::print("{} of {} after round {}\n\n", card.model, card.method, card.round);
  fmt::print("{:<20}  {:>8}  {:>10}  {:>10}  {:>8}\n", "domain", "pictures", "masked", "unmasked", "loss");
  for (std::size_t d = 0; d < corpus.domains.size(); ++d)
    print_score(corpus.domains[d].name, scored.front().evaluation.domains[d]);
  if (corpus.domains.size() > 1) print_score("all", scored.front().evaluation.total());
  const auto clients = scored.subspan(1);
  if (clients.empty()) return;
  fmt::print("\n{} clients\n", clients.size());
  const auto line = [](std::string_view name, const Spread& s) {
    fmt::print("{:<20}  {:.2f} % ± {:.2f} ({:.2f} to {:.2f})\n", name, 100 * s.mean, 100 * s.std, 100 * s.min,
               100 * s.max);
  };
  line("masked", spread_over(clients, &Score::accuracy_masked));
  line("unmasked", spread_over(clients, &Score::accuracy_unmasked));
}

void tell_notes(const Corpus& corpus) {
  for (const auto& domain : corpus.domains) {
    for (const auto& note : domain.notes) tell(fmt::format("note: {}: {}\n", domain.name, note));
    if (domain.skipped.count() > 0)
      tell(fmt::format("note: {}: {} files skipped\n", domain.name, domain.skipped.count()));
  }
}

void evaluate_adapters(const EvalArguments& arguments) {
  const auto precision = parse_precision(arguments.precision);
  const auto found = find_adapters(arguments.adapter);
  const StoredAdapter first = read_adapter_of(found.file);
  const auto pictures = pictures_for(arguments, found, first.card);
  const auto checkpoint = open_backbone_of(found, first.card, arguments.backbone);
  ThreadPool threads;
  const auto corpus = open_pictures_for(first.card, pictures.corpus, {.pool = &threads});
  require_test_pictures(corpus);
  if (arguments.data.empty() && !found.about.empty())
    require_same_test_pictures(read_text_file(found.about), corpus);
  tell_notes(corpus);
  const auto backbone = make_backbone(
      *checkpoint,
      {.precision = precision == Precision::automatic ? first.card.precision : precision, .training = false});

  const CorpusSamples samples(corpus, corpus.test, *backbone, first.card.preprocessing, kCacheBytes);
  const auto chosen = scored_samples(pictures.evaluate, corpus, pictures.seed);
  Workspace workspace(*backbone);
  const auto score = [&](const StoredAdapter& adapter) {
    return Scored{adapter.card.model,
                  evaluate(adapter.card.adapter, adapter.state, samples, chosen,
                           {adapter.card.mask, pictures.evaluate.batch}, workspace, &threads)};
  };
  std::vector<Scored> scored = {score(first)};
  if (arguments.clients) {
    for (const auto& file : found.clients) scored.push_back(score(read_adapter_of(file)));
  }
  if (!arguments.json) return print_table(first.card, scored, corpus);
  auto document = to_json(scored.front(), corpus);
  if (arguments.clients) {
    document["clients"] = nlohmann::ordered_json::array();
    for (const auto& client : std::span(scored).subspan(1))
      document["clients"].push_back(to_json(client, corpus));
  }
  print_json(document);
}

}  // namespace

void add_eval_command(CLI::App& app) {
  auto* command = add_command(
      app, "eval", "Score what a run has trained on data sets, with and without the domain mask.",
      {"dfrost eval runs/demo                                   as the run scored it, picture for picture",
       "dfrost eval runs/demo --clients --samples 0             all clients too, on all test pictures",
       "dfrost eval network.safetensors --backbone deit-tiny --data mnist --data mine=pictures/new"});
  auto arguments = std::make_shared<EvalArguments>();
  command
      ->add_option("adapter", arguments->adapter,
                   "The folder of a run (its network model), or an adapter file")
      ->required();
  command->add_option("--data", arguments->data,
                      "A domain of the adapter, or DOMAIN=PATH; else the data of the run");
  command->add_option("--root", arguments->root, "The folder that holds the data sets");
  command->add_option("--backbone", arguments->backbone,
                      "The checkpoint: a file, a folder, or a name; else that of the run");
  command->add_option("--samples", arguments->samples,
                      "Test pictures of each domain, at most; 0: all (as the run; all with --data)");
  command->add_flag("--clients", arguments->clients, "Score every client of the run too");
  command->add_option("--precision", arguments->precision, "auto (as trained), fp32 or bf16")
      ->capture_default_str();
  command->add_option("--exif", arguments->exif,
                      "apply or ignore how cameras were held (as the run; apply with --data)");
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { evaluate_adapters(*arguments); });
}

}  // namespace dfrost::cli
