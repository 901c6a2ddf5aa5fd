// make_experiment FOLDER: the small experiment of the tests as files, for scripts: a random checkpoint, two
// data sets of coloured squares, experiment.toml.
#include <iostream>

#include "base/file.h"
#include "config/toml_file.h"
#include "run/small_experiment.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  namespace fs = std::filesystem;
  const fs::path folder = fs::absolute(argv[1]);
  const dfrost::test::SmallExperiment experiment;
  fs::create_directories(folder);
  fs::copy(experiment.folder.path(), folder, fs::copy_options::recursive);
  auto config = experiment.config;
  config.backbone.path = folder / "model.safetensors";
  for (auto& domain : config.data.domains) domain.path = folder / domain.name;
  config.diagnostics.theory = false;
  config.evaluate = {.every = 4, .clients = 1, .samples = 4};
  dfrost::write_file_atomically(folder / "experiment.toml", dfrost::to_toml(config));
  return 0;
}
