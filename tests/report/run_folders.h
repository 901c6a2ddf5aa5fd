// Small run folders, as `dfrost run` would leave them, made on the spot.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "report/run_reader.h"

namespace dfrost::test {

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline void append_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::app) << text;
}

inline Json sample_round(std::size_t round) {
  const double accuracy = 0.5 + 0.01 * static_cast<double>(round);
  return {{"schema", 1},
          {"round", round},
          {"train_loss", 1.0 / static_cast<double>(round)},
          {"seconds", {{"train", 2.5}, {"total", 3.0}}},
          {"graph", {{"links", {{0, 1}}}, {"failed", Json::array()}, {"absent", Json::array()}}},
          {"evaluation",
           {{"clients", {0, 1}},
            {"accuracy_masked", {{"mean", accuracy}, {"std", 0.01}, {"min", 0.4}, {"max", 0.6}}}}}};
}

inline Json sample_merge(std::size_t round) {
  return {{"schema", 1},
          {"round", round},
          {"client", 0},
          {"kind", "ot"},
          {"variance", {0.6, 0.2}},
          {"senders", {{{"client", 0}, {"points", {{0.5, -0.25}}}}}},
          {"merged", {{0.5, -0.25}}},
          {"dead", Json::array()},
          {"plan", {{0, 0, 0, 1.0}}}};
}

inline Json sample_summary(const std::string& name, std::uint64_t seed, double accuracy) {
  return {{"schema", 1},
          {"name", name},
          {"method", "dfrost"},
          {"seed", seed},
          {"rounds", 2},
          {"clients", 2},
          {"final",
           {{"consensus_error", 0.25 * accuracy},
            {"accuracy_masked", {{"mean", accuracy}, {"std", 0.1}}},
            {"accuracy_unmasked", {{"mean", accuracy / 2}, {"std", 0.1}}},
            {"network_accuracy_masked", accuracy + 0.1},
            {"network_accuracy_unmasked", accuracy - 0.1}}},
          {"seconds", {{"total", 100 * accuracy}}},
          {"sent_bytes", 1000}};
}

inline std::string sample_config(const std::string& name, std::uint64_t seed, const std::string& more = "") {
  return "[run]\nname = \"" + name + "\"\nseed = " + std::to_string(seed) + "\nrounds = 2\n" + more;
}

// Two rounds, a merge each.
inline void make_run(const std::filesystem::path& folder, const std::string& name = "sample",
                     std::uint64_t seed = 1, double accuracy = 0.5, const std::string& more = "") {
  write_text(folder / "config.toml", sample_config(name, seed, more));
  write_text(folder / "about.json",
             Json{{"schema", 1}, {"name", name}, {"method", "dfrost"}, {"seed", seed}}.dump() + "\n");
  write_text(folder / "metrics.jsonl", sample_round(1).dump() + "\n" + sample_round(2).dump() + "\n");
  write_text(folder / "merges.jsonl", sample_merge(1).dump() + "\n" + sample_merge(2).dump() + "\n");
  write_text(folder / "summary.json", sample_summary(name, seed, accuracy).dump(2) + "\n");
}

}  // namespace dfrost::test
