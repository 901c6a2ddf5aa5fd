// What a run has trained, used without the run: names what is on a picture.
#include <cstdio>

#include "dfrost/adapter.h"
#include "dfrost/error.h"

int main(int count, char** words) try {
  if (count != 3) return std::fprintf(stderr, "usage: adapter ADAPTER PICTURE\n"), 2;
  const dfrost::Adapter adapter(words[1]);
  const dfrost::AdapterInfo& info = adapter.info();
  std::printf("%s of %s after %zu rounds, around %s\n", info.model.c_str(), info.method.c_str(), info.round,
              info.backbone.c_str());
  for (const auto& tensor : adapter.tensors()) {
    std::printf("  %s: %zu values\n", std::string(tensor.name).c_str(), tensor.values.size());
  }

  dfrost::Classifier classifier(adapter);
  const dfrost::Image picture = dfrost::read_image(words[2]);
  for (const auto& guess : classifier.classify(picture.view())) {
    std::printf("%5.1f %%  %s (%s)\n", 100 * guess.probability, guess.class_name.c_str(),
                guess.domain.c_str());
  }
} catch (const dfrost::Error& error) {
  std::fprintf(stderr, "error: %s\nhint: %s\n", error.what(), error.hint().c_str());
  return 1;
}
