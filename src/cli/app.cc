#include "cli/app.h"

#include "base/version.h"
#include "cli/command.h"

namespace dfrost::cli {

int run_dfrost(int argc, const char* const* argv) {
  CLI::App app("Tune one frozen vision transformer together, without a server and without pooling pictures.",
               "dfrost");
  app.set_version_flag("--version", "dfrost " + std::string(version()));
  app.require_subcommand(1);
  app.footer(
      "  dfrost config init demo --out demo.toml        an experiment to start from\n"
      "  dfrost run demo.toml                           a whole federation on this machine\n"
      "  dfrost watch runs/demo                         see it in the browser while it goes on\n"
      "  dfrost predict --adapter runs/demo cat.jpg     what it has learnt to see\n"
      "  dfrost merge --out ours.safetensors a.safetensors b.safetensors\n"
      "                                                 one prompt set from several\n"
      "  dfrost bench step --model deit-tiny            how fast this machine trains prompts");
  add_run_command(app);
  add_watch_command(app);
  add_report_command(app);
  add_compare_command(app);
  add_study_command(app);
  add_paper_commands(app);
  add_export_command(app);
  add_eval_command(app);
  add_predict_command(app);
  add_federation_commands(app);
  add_peer_commands(app);
  add_replay_command(app);
  add_config_commands(app);
  add_data_commands(app);
  add_partition_commands(app);
  add_topology_commands(app);
  add_backbone_commands(app);
  add_classify_command(app);
  add_merge_command(app);
  add_distance_command(app);
  add_barycenter_command(app);
  add_bench_commands(app);
  add_completion_command(app);
  add_man_command(app);
  return run(app, argc, argv);
}

}  // namespace dfrost::cli
