// Results → the tables, figures and judged claims that a study asks for, as numbers with their labels; how
// they are written is study_text.h and study_page.h. Numbers are in the unit that people read: shares in
// percent, bytes in megabytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/figure_table.h"
#include "report/groups.h"
#include "study/paired.h"
#include "study/study_results.h"

namespace dfrost {

struct TableCell {
  bool planned = false;     // the study has this combination
  std::size_t seeds = 0;    // that are there
  std::size_t missing = 0;  // of the seeds asked for
  std::optional<MeanStd> value = {};
  std::optional<PairedDifference> difference = {};  // to the baseline
  std::optional<double> reference = {};
};

struct TableColumn {
  std::vector<std::string> labels;  // of the columns' axes
  const Figure* figure = nullptr;
};

struct TableRow {
  std::vector<std::string> labels;           // of the rows' axes
  std::vector<TableCell> cells;              // as the columns
  std::optional<StudyNetwork> network = {};  // to be drawn beside them
};

struct MadeTable {
  std::string name = {}, title = {}, about = {};
  std::vector<std::string> row_titles = {};  // of the rows' axes
  std::vector<TableColumn> columns = {};
  std::vector<TableRow> rows = {};
  std::string baseline = {};   // what differences are to, for people; empty: none
  std::string reference = {};  // what the numbers beside ours are: "paper"; empty: none
};
MadeTable make_table(const StudyResults& results, const StudyTable& table);

struct ChartPoint {
  double x = 0;
  double y = 0;
  double spread = 0;  // one standard deviation over seeds
};

struct ChartLine {
  std::string label;
  std::vector<ChartPoint> points;
};

struct MadeChart {
  std::string name = {}, title = {}, about = {};
  std::string x_title = {}, y_title = {};
  std::vector<std::string> x_labels = {};  // where x is an axis: of 0, 1, …
  bool dots = false;                       // single points, not lines
  bool log = false;                        // y on a logarithmic scale: points above zero alone
  std::vector<ChartLine> lines = {};
};
MadeChart make_chart(const StudyResults& results, const StudyFigure& figure);

// agrees: the whole 95 % interval of the paired difference lies above what is claimed; disagrees: the
// whole of it lies below; else, and with fewer than two seeds, one cannot tell.
enum class Judgement { agrees, disagrees, cannot_tell };
std::string_view to_string(Judgement judgement);

struct JudgedClaim {
  std::string text;
  std::string unit;
  Judgement judgement = Judgement::cannot_tell;
  std::optional<PairedDifference> difference = {};  // less `by`
  double by = 0;
};
JudgedClaim judge_claim(const StudyResults& results, const StudyClaim& claim);

// How people read a figure: what it is multiplied by, its unit, and its digits.
struct Reading {
  double factor = 1;
  std::string unit;
  int digits = 2;  // behind the point; -1: three that count
};
Reading reading_of(const Figure& figure);
std::string show_number(double number, const Reading& reading);
const Figure& figure_called(std::string_view name);

}  // namespace dfrost
