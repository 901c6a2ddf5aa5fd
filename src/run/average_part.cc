#include "run/average_part.h"

#include <vector>

namespace dfrost {

void average_part(std::string_view name, std::span<const Message> messages, std::span<const double> weights,
                  double self_weight, std::span<float> own) {
  std::vector<std::span<const float>> theirs;
  for (const auto& message : messages) theirs.emplace_back(message.tensors.find(name)->second.values);
  for (std::size_t i = 0; i < own.size(); ++i) {
    double sum = self_weight * static_cast<double>(own[i]);
    for (std::size_t s = 0; s < theirs.size(); ++s) sum += weights[s] * static_cast<double>(theirs[s][i]);
    own[i] = static_cast<float>(sum);
  }
}

}  // namespace dfrost
