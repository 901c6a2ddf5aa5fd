// Which pictures of a pooled set a text means: a file's name as in its folder or list, with "DOMAIN:" in
// front or not, or a training picture's number. Points into the corpus, which must outlive it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/corpus.h"

namespace dfrost {

class PictureNames {
 public:
  explicit PictureNames(const Corpus& corpus);

  enum class Meaning { training, testing, several, nothing };
  struct Found {
    Meaning meaning = Meaning::nothing;
    std::size_t picture = 0;  // of the training set, where it is one
  };
  Found find(std::string_view text) const;

  // The shortest text that find() takes for this training picture.
  std::string text_of(std::size_t picture) const;

  // "did you mean", or how pictures are named.
  std::string hint_for(std::string_view text) const;

 private:
  const Domain& domain_of(std::size_t picture) const;

  const Corpus& corpus_;
  std::vector<std::unordered_map<std::string_view, Found>> names_;  // by domain
};

// Digits, with or without a minus; what is too large for the type is the largest there is.
std::optional<long long> whole_number(std::string_view text);

}  // namespace dfrost
