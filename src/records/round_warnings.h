// What should worry whoever started a run: what of a round did not go as it should, though the run goes on.
// run.log has all of it, round by round; a screen shows each kind once and sums up.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "records/record.h"

namespace dfrost {

struct RoundWarning {
  std::size_t count = 0;  // above 0
  std::string_view one;   // "client diverged and kept the state it had"
  std::string_view many;  // the same of several; stands for the kind
  std::string_view hint;  // may be empty

  std::string text() const;  // "2 clients diverged and went back to a state that was sound"
};

std::vector<RoundWarning> warnings_of(const RoundRecord& record);

}  // namespace dfrost
