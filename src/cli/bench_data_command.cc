#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "base/stopwatch.h"
#include "cli/command.h"
#include "data/corpus.h"
#include "data/preprocess.h"
#include "dfrost/error.h"

namespace dfrost::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BenchDataArguments {
  std::string root = default_data_root().string();
  std::vector<std::string> domains;
  std::size_t repeats = 3;
  bool json = false;
};

double seconds_of(const std::function<void()>& work) {
  const Stopwatch watch;
  work();
  return watch.seconds();
}

// What training asks of one core: pictures of the pool, one after the other, to the patches of ViT-B/32.
Json bench_preprocessing(const PictureSet& set, std::size_t repeats) {
  constexpr std::size_t kPatch = 32;
  const Preprocessing how;
  const PictureRecord& first = set.records.at(0);
  const Preprocessor preprocessor(first.width, first.height, how);
  std::vector<float> patches(3 * how.crop * how.crop);
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < set.size() && chosen.size() < 1000; ++i) {
    if (set.records[i].width == first.width && set.records[i].height == first.height) chosen.push_back(i);
  }
  Image scratch;
  double best = 1e30;
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    best = std::min(best, seconds_of([&] {
                      for (const std::size_t i : chosen) {
                        preprocessor.to_patches(view_picture(set, i, scratch).rgb, kPatch, patches);
                      }
                    }));
  }
  return {{"width", first.width},
          {"height", first.height},
          {"images_per_second_per_core", static_cast<double>(chosen.size()) / best}};
}

void bench_data(const BenchDataArguments& arguments) {
  CorpusOptions options = *corpus_preset("five");
  if (!arguments.domains.empty()) {
    options.domains.clear();
    for (const auto& name : arguments.domains) options.domains.push_back({.name = name});
  }
  options.root = arguments.root;
  options.allow_fewer = true;
  ThreadPool threads;
  Corpus corpus;
  double best = 1e30;
  for (std::size_t repeat = 0; repeat < arguments.repeats; ++repeat) {
    corpus = {};
    best = std::min(best, seconds_of([&] { corpus = open_corpus(options, {.pool = &threads}); }));
  }
  Json domains = Json::array();
  for (const Domain& domain : corpus.domains) {
    domains.push_back({{"name", domain.name},
                       {"train", domain.train_count},
                       {"test", domain.test_count},
                       {"notes", domain.notes}});
  }
  const Json result = {{"threads", threads.size()},
                       {"domains", domains},
                       {"images", corpus.train.size() + corpus.test.size()},
                       {"bytes", corpus.train.bytes.size() + corpus.test.bytes.size()},
                       {"read_seconds", best},
                       {"preprocess", bench_preprocessing(corpus.train, arguments.repeats)}};
  if (arguments.json) return print_json(result);
  fmt::print("{:<14} {:>8} {:>8}\n", "domain", "train", "test");
  for (const Domain& domain : corpus.domains) {
    fmt::print("{:<14} {:>8} {:>8}  {}\n", domain.name, domain.train_count, domain.test_count,
               fmt::join(domain.notes, "; "));
  }
  fmt::print("read           {} images, {:.0f} MB, in {:.2f} s on {} threads (best of {})\n",
             result.at("images").get<std::size_t>(),
             static_cast<double>(result.at("bytes").get<std::size_t>()) / 1e6, best, threads.size(),
             arguments.repeats);
  fmt::print("preprocess     {:.0f} images/s per core, {}x{} bytes to the patches of ViT-B/32\n",
             result.at("preprocess").at("images_per_second_per_core").get<double>(),
             result.at("preprocess").at("width").get<std::size_t>(),
             result.at("preprocess").at("height").get<std::size_t>());
}

}  // namespace

void add_bench_data_command(CLI::App& bench) {
  auto* command = add_command(
      bench, "data", "How fast a pooled data set is read and pictures are prepared for the model.",
      {"dfrost bench data", "dfrost bench data --root /data --domains mnist,svhn --json"});
  auto arguments = std::make_shared<BenchDataArguments>();
  command->add_option("--root", arguments->root, "The data folder")->capture_default_str();
  take_comma_list(
      *command->add_option("--domains", arguments->domains, "Data sets to pool; FiveDataset's if not given"),
      "NAME,NAME,...");
  command->add_option("--repeats", arguments->repeats, "Best of how many")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { bench_data(*arguments); });
}

}  // namespace dfrost::cli
