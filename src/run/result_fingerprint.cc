#include "run/result_fingerprint.h"

#include "backbone/preparation_text.h"
#include "base/content_hash.h"
#include "config/settings_identity.h"

namespace dfrost {
std::string result_fingerprint(const RunConfig& config, const std::string& weights, Precision precision,
                               const Preprocessing& preprocessing, const DealtPictures& dealt,
                               const std::optional<FrameParts>& frame) {
  const Corpus& corpus = dealt.corpus;
  ContentHash hash;
  const std::string settings = deciding_settings_text(config, precision);
  hash.add(std::span(settings));
  hash.add(std::span(weights));
  // A file beside the checkpoint may say it, and be another one tomorrow; and so may the moments there.
  const std::string pictures = preparation_text(preprocessing);
  hash.add(std::span(pictures));
  hash.add(std::span(corpus.train.bytes));
  hash.add(std::span(corpus.train.labels));
  for (const auto& client : dealt.partition.clients) hash.add(std::span(client));
  // What a file lists; every other graph follows from the settings.
  if (dealt.topology.options().kind == TopologyKind::file) {
    const Graph graph = dealt.topology.draw(0);
    hash.add(std::span(graph.edges()));
  }
  if (frame) {
    hash.add(std::span(frame->mean));
    hash.add(std::span(frame->factor));
  }
  return hash.hex();
}

}  // namespace dfrost
