// Several data sets as one: every domain gives a class-balanced subset, and its classes follow those of the
// domains before it. The paper's FiveDataset and FourDataset (its §Experiments) are two such lists.
// Which pictures are taken depends on the seed and the data set's name, not on the other domains or on
// threads.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "data/catalog.h"
#include "data/dataset.h"

namespace dfrost {

struct Corpus;

struct CorpusOptions {
  std::vector<DomainSpec> domains;
  std::filesystem::path root;             // the data folder
  std::size_t train_per_domain = 20'000;  // 0: all there are
  std::size_t test_per_domain = 2'000;
  bool allow_fewer = false;  // a domain that has fewer pictures gives all it has, instead of being refused
  bool test_only = false;    // training pictures are left out, and need not be there
  ExifOrientation exif = ExifOrientation::apply;
  Seed seed = 0;
  // Pictures that a program brings instead of files: then nothing else counts.
  std::function<Corpus()> given = {};

  void validate() const;
};

// "five" and "four": the paper's domains and sizes. Nothing for any other name.
std::optional<CorpusOptions> corpus_preset(std::string_view name);

struct Domain {
  std::string name;
  std::vector<std::string> class_names;
  int first_class = 0;          // its classes are first_class … first_class + class_names.size() - 1
  std::size_t first_train = 0;  // its pictures stand together in the pooled sets
  std::size_t train_count = 0;
  std::size_t first_test = 0;
  std::size_t test_count = 0;
  SkippedFiles skipped;
  std::vector<std::string> notes;
};

struct Corpus {
  std::vector<Domain> domains;
  PictureSet train;  // labels shifted
  PictureSet test;

  std::size_t classes() const;
};

Corpus open_corpus(const CorpusOptions& options, const ReadOptions& read = {});

// `total` indices (all when 0), in increasing order, as evenly over the classes as the data allows: a class
// that has too few gives all it has and the others share the rest. Error when there are fewer than `total` in
// all.
std::vector<std::size_t> balanced_subset(std::span<const int> labels, std::size_t classes, std::size_t total,
                                         RandomStream& stream);

}  // namespace dfrost
