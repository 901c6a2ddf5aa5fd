#include "data/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "dfrost/error.h"

namespace dfrost {
namespace {

// How many of each class: fill all classes to a common level, as far as each reaches, then hand the few left
// over to classes that still have some, in the order of `turns`.
std::vector<std::size_t> class_quotas(std::span<const std::size_t> available, std::size_t total,
                                      std::span<const std::size_t> turns) {
  std::vector<std::size_t> quotas(available.size());
  std::size_t left = total;
  while (left > 0) {
    std::vector<std::size_t> open;
    for (const std::size_t c : turns) {
      if (quotas[c] < available[c]) open.push_back(c);
    }
    const std::size_t share = std::max<std::size_t>(1, left / open.size());
    for (const std::size_t c : open) {
      const std::size_t more = std::min({share, available[c] - quotas[c], left});
      quotas[c] += more;
      left -= more;
    }
  }
  return quotas;
}

// Appends the chosen pictures of one split and says how uneven the choice had to be.
std::size_t add_split(PictureSet& to, const Dataset& dataset, Split split, std::size_t wanted,
                      const CorpusOptions& options, Domain& domain) {
  const PictureSet& from = dataset[split];
  if (options.allow_fewer && wanted > from.size()) {
    domain.notes.push_back(
        fmt::format("{}: {} pictures wanted, only {} there", to_string(split), wanted, from.size()));
    wanted = from.size();
  }
  RandomStream stream(options.seed, fmt::format("{} pictures of {}", to_string(split), dataset.name));
  std::vector<std::size_t> chosen;
  try {
    chosen = balanced_subset(from.labels, dataset.class_names.size(), wanted, stream);
  } catch (Error& error) {
    throw error.at(fmt::format("{}, {} pictures", dataset.name, to_string(split)));
  }
  for (const std::size_t index : chosen)
    append_picture(to, from, index, domain.first_class + from.labels[index]);
  const auto counts =
      count_classes(std::span(to.labels).last(chosen.size()),
                    static_cast<std::size_t>(domain.first_class) + dataset.class_names.size());
  const auto [least, most] = std::minmax_element(counts.begin() + domain.first_class, counts.end());
  if (wanted != 0 && *most > *least + 1) {
    domain.notes.push_back(fmt::format("{}: {} to {} pictures a class; some classes have no more",
                                       to_string(split), *least, *most));
  }
  return chosen.size();
}

void require_training_pictures(const Dataset& dataset) {
  if (dataset[Split::train].size() > 0) return;
  throw Error(ErrorCode::failed_precondition,
              fmt::format("{} has no training pictures, only {} to test with", dataset.name,
                          dataset[Split::test].size()),
              "put some in a folder 'train' beside 'test', one subfolder per class, or into the list")
      .at(dataset.location.string());
}

Domain add_domain(Corpus& corpus, const DomainSpec& spec, const CorpusOptions& options,
                  const ReadOptions& read) {
  Dataset dataset = open_dataset(spec, options.root, read);
  Domain domain;
  domain.name = spec.name;
  domain.class_names = dataset.class_names;
  domain.first_class = static_cast<int>(corpus.classes());
  domain.first_train = corpus.train.size();
  domain.first_test = corpus.test.size();
  domain.notes = dataset.notes;
  if (!options.test_only) {
    require_training_pictures(dataset);
    domain.train_count = add_split(corpus.train, dataset, Split::train,
                                   spec.train.value_or(options.train_per_domain), options, domain);
  }
  domain.test_count = add_split(corpus.test, dataset, Split::test,
                                spec.test.value_or(options.test_per_domain), options, domain);
  domain.skipped = std::move(dataset.skipped);
  return domain;
}

}  // namespace

void CorpusOptions::validate() const {
  if (domains.empty()) {
    throw Error(ErrorCode::invalid_argument, "no domains are named", "name at least one data set")
        .at("data.domains");
  }
  std::set<std::string> names;
  for (const auto& domain : domains) {
    if (domain.name.empty()) {
      throw Error(ErrorCode::invalid_argument, "a domain has no name").at("data.domains");
    }
    if (!names.insert(domain.name).second) {
      throw Error(ErrorCode::invalid_argument, fmt::format("the domain '{}' is named twice", domain.name),
                  "give one of them another name and a path")
          .at("data.domains");
    }
  }
}

std::optional<CorpusOptions> corpus_preset(std::string_view name) {
  const auto with = [](std::initializer_list<const char*> names, std::size_t train, std::size_t test) {
    CorpusOptions options;
    for (const char* domain : names) options.domains.push_back({.name = domain});
    options.train_per_domain = train;
    options.test_per_domain = test;
    return options;
  };
  if (name == "five") return with({"cifar10", "mnist", "fashion-mnist", "svhn", "notmnist"}, 20'000, 2'000);
  if (name == "four") return with({"mnist-m", "fashion-mnist", "cinic10", "mmafedb"}, 30'000, 2'500);
  return std::nullopt;
}

std::size_t Corpus::classes() const {
  return std::accumulate(
      domains.begin(), domains.end(), std::size_t{0},
      [](std::size_t sum, const Domain& domain) { return sum + domain.class_names.size(); });
}

Corpus open_corpus(const CorpusOptions& options, const ReadOptions& read) {
  options.validate();
  if (options.given) return options.given();
  ReadOptions how = read;
  how.exif = options.exif;
  Corpus corpus;
  for (const auto& spec : options.domains) corpus.domains.push_back(add_domain(corpus, spec, options, how));
  return corpus;
}

std::vector<std::size_t> balanced_subset(std::span<const int> labels, std::size_t classes, std::size_t total,
                                         RandomStream& stream) {
  if (total > labels.size()) {
    throw Error(
        ErrorCode::failed_precondition,
        fmt::format("{} pictures are wanted, {} are there", total, labels.size()),
        "ask for fewer: data.train_per_domain and data.test_per_domain, or train and test of the one domain; "
        "data.allow_fewer = true takes what is there");
  }
  std::vector<std::size_t> all(labels.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (total == 0) return all;
  const auto turns = stream.permutation(classes);
  auto quotas = class_quotas(count_classes(labels, classes), total, turns);
  stream.shuffle(std::span(all));
  std::vector<std::size_t> chosen;
  chosen.reserve(total);
  for (const std::size_t index : all) {
    auto& left = quotas[static_cast<std::size_t>(labels[index])];
    if (left == 0) continue;
    --left;
    chosen.push_back(index);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace dfrost
