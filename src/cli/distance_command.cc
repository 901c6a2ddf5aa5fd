// `dfrost distance`: the exact squared Wasserstein distance between two prompt sets, and the matching behind
// it.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "cli/command.h"
#include "cli/prompt_file.h"
#include "dfrost/wasserstein.h"

namespace dfrost::cli {
namespace {

struct DistanceArguments {
  std::string a, b;
  bool json = false;
};

double squared_distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    sum += std::pow(static_cast<double>(a[k]) - static_cast<double>(b[k]), 2);
  return sum;
}

void print_distance(const DistanceArguments& arguments) {
  const std::vector<std::string> paths = {arguments.a, arguments.b};
  const auto files = read_prompt_files(paths);
  const auto& a = files[0];
  const auto& b = files[1];
  const auto found = wasserstein2_squared({a.view()}, {b.view()});
  if (arguments.json) {
    nlohmann::ordered_json plan = nlohmann::ordered_json::array();
    for (const auto& entry : found.plan)
      plan.push_back({{"from", entry.from}, {"to", entry.to}, {"mass", entry.mass}});
    return print_json({{"w2_squared", found.w2_squared}, {"plan", plan}});
  }
  fmt::print("W2^2  {:.9g}\nW2    {:.9g}\n\n", found.w2_squared, std::sqrt(found.w2_squared));
  fmt::print("{:>20}    {:<20}{:>8}   squared distance\n", a.name, b.name, "mass");
  for (const auto& entry : found.plan) {
    fmt::print("{:>20} -> {:<20}{:>6.1f} %   {:.6g}\n", entry.from, entry.to, 100 * entry.mass,
               squared_distance(a.view().row(entry.from), b.view().row(entry.to)));
  }
}

}  // namespace

void add_distance_command(CLI::App& app) {
  auto* command = add_command(
      app, "distance", "Measure how far two prompt sets are apart, whatever their order.",
      {"dfrost distance a.safetensors b.safetensors", "dfrost distance a.safetensors b.safetensors --json"});
  auto arguments = std::make_shared<DistanceArguments>();
  add_json_flag(*command, arguments->json);
  command->add_option("a", arguments->a, "A prompt file")->required();
  command->add_option("b", arguments->b, "Another; they may hold different numbers of prompts")->required();
  command->callback([arguments] { print_distance(*arguments); });
}

}  // namespace dfrost::cli
