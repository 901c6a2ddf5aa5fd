#include "run/given_data.h"

#include <fmt/format.h>

#include <limits>
#include <numeric>

#include "dfrost/error.h"

namespace dfrost {
namespace {

void check(const LabelledPicture& one, const RunData& data, const std::string& place) {
  constexpr std::size_t kMostPixels = std::numeric_limits<std::uint32_t>::max() / 3;
  const auto& [picture, label] = one;
  if (picture.rgb == nullptr || picture.width == 0 || picture.height == 0 ||
      picture.width > kMostPixels / picture.height)
    throw Error(ErrorCode::invalid_argument, "a picture is empty, or too large").at(place);
  if (label < data.class_names.size()) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("label {}, but there are {} classes", label, data.class_names.size()),
              "labels count from 0; every class has a name")
      .at(place);
}

void check(const RunData& data) {
  if (data.name.empty()) throw Error(ErrorCode::invalid_argument, "the data has no name");
  if (data.clients.empty())
    throw Error(ErrorCode::invalid_argument, "there are no clients", "give each a list of pictures");
  for (std::size_t u = 0; u < data.clients.size(); ++u) {
    for (const auto& one : data.clients[u]) check(one, data, fmt::format("client {}", u));
  }
  for (const auto& one : data.test) check(one, data, "test pictures");
}

void append(const LabelledPicture& one, PictureSet& to) {
  const ImageView& view = one.picture;
  const std::size_t size = 3 * view.width * view.height;
  to.records.push_back({to.bytes.size(), static_cast<std::uint32_t>(size),
                        static_cast<std::uint32_t>(view.width), static_cast<std::uint32_t>(view.height),
                        PictureKind::rgb});
  to.bytes.insert(to.bytes.end(), view.rgb, view.rgb + size);
  to.labels.push_back(static_cast<int>(one.label));
}

Corpus corpus_of(const RunData& data) {
  Corpus corpus;
  for (const auto& client : data.clients) {
    for (const auto& one : client) append(one, corpus.train);
  }
  for (const auto& one : data.test) append(one, corpus.test);
  Domain domain;
  domain.name = data.name;
  domain.class_names = data.class_names;
  domain.train_count = corpus.train.size();
  domain.test_count = corpus.test.size();
  corpus.domains.push_back(std::move(domain));
  return corpus;
}

Partition partition_of(const RunData& data) {
  Partition partition;
  std::size_t first = 0;
  for (const auto& client : data.clients) {
    auto& own = partition.clients.emplace_back(client.size());
    std::iota(own.begin(), own.end(), first);
    first += client.size();
  }
  return partition;
}

}  // namespace

void bring_data(const RunData& data, RunConfig& config) {
  check(data);
  config.data.given = [&data] { return corpus_of(data); };
  std::size_t train = 0;
  for (const auto& client : data.clients) train += client.size();
  // So that config.toml names what was trained on, and scoring is weighed against that.
  config.data.domains = {
      {.name = data.name, .path = "given-by-a-program", .train = train, .test = data.test.size()}};
  config.partition.given = std::make_shared<const Partition>(partition_of(data));
}

}  // namespace dfrost
