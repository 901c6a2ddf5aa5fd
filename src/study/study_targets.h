// After how many rounds runs reached a level of a figure, and how many times fewer those are than others':
// seed by seed. A run that never reached it has no such number: it is told as "> its last round", enters no
// mean, and bounds a ratio from one side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/study_results.h"

namespace dfrost {

// What is known of a number of rounds, or of a ratio of two.
struct Bounded {
  enum class Known { exactly, more_than, less_than };
  Known known = Known::exactly;
  double value = 0;
};

struct TargetCell {
  bool planned = false;             // the study has this combination
  std::vector<Bounded> rounds;      // of each seed that is there
  std::size_t missing = 0;          // of the seeds asked for
  std::vector<Bounded> ratios;      // the baseline's over these, of each seed where that can be said
  std::optional<double> reference;  // somebody else's ratio
};

struct TargetRow {
  std::vector<std::string> labels;
  std::vector<TargetCell> cells;  // as the levels
  bool is_baseline = false;
};

struct MadeTarget {
  std::string name = {}, title = {}, about = {}, unit = {};
  std::vector<std::string> row_titles = {};
  std::vector<double> levels = {};
  std::vector<TargetRow> rows = {};
  std::string baseline = {}, reference = {};  // for people; empty: none
};
MadeTarget make_target(const StudyResults& results, const StudyTarget& target);

// "12.3 ± 0.6" where all seeds reached it, "> 30" where none did, "12, > 30, 14" otherwise; "-" where no run
// is there.
std::string rounds_text(const TargetCell& cell);
// "4.1 [3.0, 5.6]": the geometric mean and the 95 % interval (Student's t of the logarithms) where every seed
// has a ratio, "3.1, > 4.0" otherwise; "" where there is none.
std::string ratio_text(const TargetCell& cell);

// One line a row and a level; seeds one after the other.
std::string target_csv(const MadeTarget& target);
// For a study's Markdown, and for its page.
std::string target_markdown(const MadeTarget& target);
std::string target_html(const MadeTarget& target);

}  // namespace dfrost
