#include "records/round_warnings.h"

#include <fmt/format.h>

namespace dfrost {

std::string RoundWarning::text() const { return fmt::format("{} {}", count, count == 1 ? one : many); }

std::vector<RoundWarning> warnings_of(const RoundRecord& record) {
  std::vector<RoundWarning> warnings;
  const auto warn = [&](const RoundWarning& warning) {
    if (warning.count > 0) warnings.push_back(warning);
  };
  warn({record.diverged_clients, "client diverged and kept the state it had",
        "clients diverged and went back to a state that was sound",
        "a smaller train.learning_rate may help"});
  warn({record.refused_messages, "message was refused", "messages were refused", ""});
  warn({record.missing_messages, "message did not come", "messages did not come", ""});
  if (record.theory) {
    warn({record.theory->violated, "merge broke the bound of Theorem 1",
          "merges broke the bound of Theorem 1", ""});
  }
  return warnings;
}

}  // namespace dfrost
