#include "train/method.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string>
#include <vector>

#include "base/suggest.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr double kLearningRate = 1e-4;

constexpr OptimizerOptions kAdam = {.kind = OptimizerKind::adam, .learning_rate = kLearningRate};
constexpr OptimizerOptions kSgd = {.kind = OptimizerKind::sgd, .learning_rate = kLearningRate};
constexpr OptimizerOptions kMomentum = {
    .kind = OptimizerKind::sgd, .learning_rate = kLearningRate, .momentum = 0.99};
constexpr OptimizerOptions kSam = {
    .kind = OptimizerKind::sgd, .learning_rate = kLearningRate, .momentum = 0.99, .sam_radius = 0.01};
constexpr PromptOptions kSet = {.count = 10};
constexpr PromptOptions kPool = {.count = 10, .pool = 20};

constexpr std::array kMethods = {
    LocalMethod{"dfrost", {.optimizer = kAdam, .epochs = 5}, kSet},
    LocalMethod{"d-psgd", {.optimizer = kSgd, .epochs = 1}, kSet},
    LocalMethod{"dfedavgm", {.optimizer = kMomentum, .epochs = 5}, kSet},
    LocalMethod{"dfedsam", {.optimizer = kSam, .epochs = 5}, kSet},
    LocalMethod{"dfrost+", {.optimizer = kAdam, .epochs = 5}, kPool},
    LocalMethod{"d-psgd+", {.optimizer = kSgd, .epochs = 1}, kPool},
    LocalMethod{"dfedavgm+", {.optimizer = kMomentum, .epochs = 5}, kPool},
    LocalMethod{"dfedsam+", {.optimizer = kSam, .epochs = 5}, kPool},
};

}  // namespace

std::span<const LocalMethod> local_methods() { return kMethods; }

const LocalMethod& local_method(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& method : kMethods) {
    if (method.name == name) return method;
    names.emplace_back(method.name);
  }
  const auto near = nearest(name, names);
  throw Error(ErrorCode::invalid_argument, fmt::format("unknown method '{}'", name),
              near ? fmt::format("did you mean '{}'?", *near)
                   : fmt::format("the methods are {}", fmt::join(names, ", ")));
}

}  // namespace dfrost
