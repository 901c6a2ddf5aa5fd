#include "base/version.h"
#include "cli/command.h"

// NOLINTNEXTLINE(bugprone-exception-escape): declaring the commands throws only if two have one name
int main(int argc, char** argv) {
  CLI::App app("Tune one frozen vision transformer together, without a server and without pooling pictures.",
               "dfrost");
  app.set_version_flag("--version", "dfrost " + std::string(dfrost::version()));
  app.require_subcommand(1);
  app.footer(
      "  dfrost config init demo --out demo.toml        an experiment to start from\n"
      "  dfrost run demo.toml                           a whole federation on this machine\n"
      "  dfrost watch runs/demo                         see it in the browser while it goes on\n"
      "  dfrost predict --adapter runs/demo cat.jpg     what it has learnt to see\n"
      "  dfrost merge --out ours.safetensors a.safetensors b.safetensors\n"
      "                                                 one prompt set from several\n"
      "  dfrost bench step --model deit-tiny            how fast this machine trains prompts");
  dfrost::cli::add_run_command(app);
  dfrost::cli::add_watch_command(app);
  dfrost::cli::add_report_command(app);
  dfrost::cli::add_compare_command(app);
  dfrost::cli::add_export_command(app);
  dfrost::cli::add_eval_command(app);
  dfrost::cli::add_predict_command(app);
  dfrost::cli::add_config_commands(app);
  dfrost::cli::add_data_commands(app);
  dfrost::cli::add_partition_commands(app);
  dfrost::cli::add_topology_commands(app);
  dfrost::cli::add_backbone_commands(app);
  dfrost::cli::add_classify_command(app);
  dfrost::cli::add_merge_command(app);
  dfrost::cli::add_distance_command(app);
  dfrost::cli::add_barycenter_command(app);
  dfrost::cli::add_bench_commands(app);
  return dfrost::cli::run(app, argc, argv);
}
