#include "run/result_fingerprint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/content_hash.h"
#include "config/settings_identity.h"

namespace dfrost {
namespace {

// A file beside the checkpoint may say it, and be another one tomorrow.
std::string picture_text(const Preprocessing& how) {
  return fmt::format("{} {} {} {} {} {}", how.resize, how.stretch, static_cast<int>(how.filter), how.crop,
                     fmt::join(how.mean, " "), fmt::join(how.std, " "));
}

}  // namespace

std::string result_fingerprint(const RunConfig& config, const std::string& weights, Precision precision,
                               const Preprocessing& preprocessing, const DealtPictures& dealt) {
  const Corpus& corpus = dealt.corpus;
  ContentHash hash;
  const std::string settings = deciding_settings_text(config, precision);
  hash.add(std::span(settings));
  hash.add(std::span(weights));
  const std::string pictures = picture_text(preprocessing);
  hash.add(std::span(pictures));
  hash.add(std::span(corpus.train.bytes));
  hash.add(std::span(corpus.train.labels));
  for (const auto& client : dealt.partition.clients) hash.add(std::span(client));
  // What a file lists; every other graph follows from the settings.
  if (dealt.topology.options().kind == TopologyKind::file) {
    const Graph graph = dealt.topology.draw(0);
    hash.add(std::span(graph.edges()));
  }
  return hash.hex();
}

}  // namespace dfrost
