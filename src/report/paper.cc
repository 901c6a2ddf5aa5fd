#include "report/paper.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

namespace dfrost {
namespace {

struct Row {
  std::string_view data;           // five, four
  std::string_view partition;      // 0.5, 0.1, extreme
  std::array<double, 4> accuracy;  // of kMethods; 0 where the paper states none
  std::string_view topology = "regular";
  double link_failure = 0;
  int active_clients = 0;  // 0: all
  int prompts = 10;
};

constexpr std::array<std::string_view, 4> kMethods = {"dfrost", "dfedavgm", "dfedsam", "d-psgd"};

constexpr Row kRows[] = {
    {"five", "0.5", {81.95, 75.28, 70.31, 23.23}},
    {"five", "0.1", {79.36, 70.88, 66.74, 18.14}},
    {"five", "extreme", {70.46, 51.89, 45.29, 9.92}},
    {"four", "0.5", {69.06, 63.28, 62.30, 24.47}},
    {"four", "0.1", {63.94, 59.72, 59.49, 21.45}},
    {"four", "extreme", {58.24, 46.05, 43.29, 12.38}},
    {"five", "0.1", {75.88, 67.37, 64.21, 16.42}, "ring"},
    {"five", "0.1", {77.84, 68.57, 65.85, 17.69}, "grid"},
    {"five", "0.1", {78.96, 70.64, 65.97, 18.29}, "erdos-renyi"},
    {"five", "0.1", {82.28, 72.74, 69.80, 19.00}, "full"},
    {.data = "five", .partition = "0.1", .accuracy = {77.29}, .link_failure = 0.4},
    {.data = "five", .partition = "0.1", .accuracy = {64.88}, .active_clients = 10},
    {.data = "five", .partition = "extreme", .accuracy = {63.35}, .prompts = 5},
};

struct Required {
  const char* key;
  Json value;
};

bool same(const Json& a, const Json& b) {
  if (!a.is_number() || !b.is_number()) return a == b;
  const double x = a.get<double>(), y = b.get<double>();
  return std::abs(x - y) <= 1e-9 * std::max(std::abs(x), std::abs(y));
}

bool has(const Settings& settings, const std::string& key, const Json& value) {
  const auto found = settings.find(key);
  return found != settings.end() && same(found->second, value);
}

bool has_all(const Settings& settings, std::span<const Required> required) {
  return std::ranges::all_of(required, [&](const auto& r) { return has(settings, r.key, r.value); });
}

const std::vector<Required>& required_by_all() {
  static const std::vector<Required> required = {{"run.rounds", 40},
                                                 {"partition.clients_per_domain", 10},
                                                 {"network.static", false},
                                                 {"train.batch", 16},
                                                 {"train.learning_rate", 1e-4},
                                                 {"train.mask", "domain"},
                                                 {"prompts.pool", 0},
                                                 {"prompts.counts", Json::array()},
                                                 {"merge.head", "average"},
                                                 {"method.cooperation", "peers"},
                                                 {"evaluate.clients", 0},
                                                 {"evaluate.samples", 0}};
  return required;
}

const std::vector<Required>& required_by_method(std::size_t method) {
  static const std::array<std::vector<Required>, 4> required = {{
      {{"train.optimizer", "adam"},
       {"train.epochs", 5},
       {"train.sam_radius", 0},
       {"merge.kind", "ot"},
       {"merge.epsilon", 0.01},
       {"merge.epsilon_init", 0},
       {"merge.lambda", 0.001},
       {"merge.sigma2", 1},
       {"merge.steps", 50},
       {"merge.shrink", "paper"},
       {"merge.weights", "equal"}},
      {{"train.optimizer", "sgd"},
       {"train.epochs", 5},
       {"train.momentum", 0.99},
       {"train.sam_radius", 0},
       {"merge.kind", "average"}},
      {{"train.optimizer", "sgd"},
       {"train.epochs", 5},
       {"train.momentum", 0.99},
       {"train.sam_radius", 0.01},
       {"merge.kind", "average"}},
      {{"train.optimizer", "sgd"},
       {"train.epochs", 1},
       {"train.momentum", 0},
       {"train.sam_radius", 0},
       {"merge.kind", "average"}},
  }};
  return required[method];
}

// The domains and their sizes, as they really were.
bool is_data(std::string_view data, const Json& about) {
  const bool five = data == "five";
  std::vector<std::string> expected = {"cifar10", "fashion-mnist", "mnist", "notmnist", "svhn"};
  if (!five) expected = {"cinic10", "fashion-mnist", "mmafedb", "mnist-m"};
  std::vector<std::string> names;
  for (const auto& domain : about.value("domains", Json::array())) {
    if (!domain.is_object() || domain.value("train", Json()) != Json(five ? 20'000 : 30'000)) return false;
    if (domain.value("test", Json()) != Json(five ? 2'000 : 2'500)) return false;
    const auto name = domain.value("name", Json());
    if (name.is_string()) names.push_back(name);
  }
  std::ranges::sort(names);
  return names == expected;
}

bool is_vit_b32(const Json& about) {
  const auto backbone = about.value("backbone", Json::object());
  return backbone.is_object() && backbone.value("width", Json()) == Json(768) &&
         backbone.value("depth", Json()) == Json(12) && backbone.value("patch", Json()) == Json(32) &&
         backbone.value("image_size", Json()) == Json(224);
}

bool is_row(const Row& row, const Settings& settings) {
  const bool extreme = row.partition == "extreme";
  const Required partition = extreme ? Required{"partition.designated_share", 0.99}
                                     : Required{"partition.alpha", row.partition == "0.5" ? 0.5 : 0.1};
  const bool needs_degree = row.topology == "regular" || row.topology == "erdos-renyi";
  return has(settings, "partition.kind", extreme ? "extreme" : "dirichlet") &&
         has(settings, partition.key, partition.value) && has(settings, "network.topology", row.topology) &&
         (!needs_degree || has(settings, "network.degree", row.data == "five" ? 5 : 4)) &&
         has(settings, "network.link_failure", row.link_failure) &&
         has(settings, "network.active_clients", row.active_clients) &&
         has(settings, "prompts.count", row.prompts);
}

std::string describe(const Row& row) {
  std::string text = row.data == "five" ? "FiveDataset" : "FourDataset";
  text += row.partition == "extreme" ? ", extreme, " : ", Dirichlet " + std::string(row.partition) + ", ";
  text += row.topology;
  if (row.link_failure > 0) text += ", 40 % of links fail";
  if (row.active_clients > 0) text += ", 10 of 50 clients";
  if (row.prompts == 5) text += ", 5 prompts";
  return text;
}

}  // namespace

std::optional<PaperFigure> paper_figure(const Settings& settings, const Json& about) {
  if (!about.is_object() || !is_vit_b32(about) || !has_all(settings, required_by_all())) return std::nullopt;
  // An older run does not have the key, and no limit.
  if (settings.contains("train.max_steps") && !has(settings, "train.max_steps", 0)) return std::nullopt;
  const auto name = text_at(settings, "method.name").value_or("");
  const auto method = static_cast<std::size_t>(std::ranges::find(kMethods, name) - kMethods.begin());
  if (method == kMethods.size() || !has_all(settings, required_by_method(method))) return std::nullopt;
  for (const auto& row : kRows) {
    if (row.accuracy[method] > 0 && is_row(row, settings) && is_data(row.data, about)) {
      return PaperFigure{describe(row), row.accuracy[method]};
    }
  }
  return std::nullopt;
}

}  // namespace dfrost
