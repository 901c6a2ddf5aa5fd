// Runs an experiment by two ways to merge and says which of them agreed better.
#include <cstdio>
#include <string>

#include "dfrost/error.h"
#include "dfrost/run.h"

class Printer : public dfrost::Observer {
 public:
  void on_ready(const dfrost::RunStart& start) override {
    std::printf("%zu clients, %zu rounds\n", start.clients, start.rounds);
  }
  void on_round(const dfrost::Round& round) override {
    std::printf("round %zu: consensus error %.3g\n", round.round, *round.figure("consensus_error"));
    if (const auto accuracy = round.figure("evaluation.accuracy_masked.mean")) {
      std::printf("  accuracy %.1f %%\n", 100 * *accuracy);
    }
  }
};

int main(int count, char** words) try {
  if (count != 2) return std::fprintf(stderr, "usage: run EXPERIMENT.toml\n"), 2;
  dfrost::Config config = dfrost::Config::load(words[1], {{"run.rounds", "3"}});
  Printer printer;
  double error[2] = {};
  for (const std::string kind : {"ot", "average"}) {
    config.set({{"merge.kind", kind}, {"run.name", kind}});
    const dfrost::RunSummary summary = dfrost::run(config, {.folder = "runs/" + kind}, printer);
    error[kind == "ot" ? 0 : 1] = *summary.figure("consensus_error");
  }
  std::printf("better agreement: %s\n", error[0] < error[1] ? "ot" : "average");

  const dfrost::LoadedRun again = dfrost::load_run("runs/ot");  // as any later program would
  std::printf("%zu rounds and %zu adapters are in runs/ot\n", again.rounds.size(),
              again.client_adapters.size());
} catch (const dfrost::Error& error) {
  std::fprintf(stderr, "error: %s\nhint: %s\n", error.what(), error.hint().c_str());
  return 1;
}
