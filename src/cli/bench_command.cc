#include "cli/command.h"

namespace dfrost::cli {

void add_bench_commands(CLI::App& app) {
  auto* bench =
      add_command(app, "bench", "Measure how fast dfrost is on this machine.",
                  {"dfrost bench step --model vit-b32   one training step beside the machine's peak",
                   "dfrost bench data                   reading a data set and preparing its pictures"});
  bench->require_subcommand(1);
  add_bench_step_command(*bench);
  add_bench_merge_command(*bench);
  add_bench_data_command(*bench);
  add_bench_federation_command(*bench);
  add_bench_wire_command(*bench);
  add_bench_privacy_command(*bench);
}

}  // namespace dfrost::cli
