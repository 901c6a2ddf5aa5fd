// The text formats: CSV lists, MNIST-M's lists and partition files. Any text gives values or an Error.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "data/label_list.h"
#include "dfrost/error.h"
#include "partition/partition_file.h"

// A picture of the shortest list ("a,b" a line) is 4 bytes of text and some 80 of ListedPicture, in a vector
// that doubles.
std::size_t fuzz_memory_bound(std::size_t input_bytes) { return 80 * input_bytes + 16'384; }

namespace {

// Half of the pictures have names.
dfrost::Corpus pool_of(std::size_t pictures) {
  dfrost::Corpus corpus;
  corpus.train.records.resize(pictures);
  for (std::size_t i = 0; i < pictures / 2; ++i)
    corpus.train.names.push_back(std::string(1, static_cast<char>('a' + i)));
  dfrost::Domain domain;
  domain.name = "d";
  domain.train_count = pictures;
  corpus.domains = {domain};
  return corpus;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    for (const auto& picture : dfrost::parse_csv_list(text, "fuzz", {})) {
      if (picture.path.empty() || picture.label.empty()) std::abort();
    }
  } catch (const dfrost::Error&) {
  }
  try {
    dfrost::parse_space_list(text, "fuzz", dfrost::Split::train);
  } catch (const dfrost::Error&) {
  }
  try {
    constexpr std::size_t kPictures = 12;
    static const dfrost::Corpus corpus = pool_of(kPictures);
    std::size_t given = 0;
    for (const auto& client : dfrost::parse_partition(text, "fuzz", corpus, 1).clients)
      given += client.size();
    if (given != kPictures) std::abort();
  } catch (const dfrost::Error&) {
  }
  return 0;
}
