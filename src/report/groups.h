// Runs of the same experiment with different seeds, as one line of a table: mean and standard deviation over
// seeds (n − 1 in the denominator; 0 for one run). `dfrost compare` and the page show these same figures.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/paper.h"
#include "report/run_reader.h"

namespace dfrost {

struct MeanStd {
  double mean = 0;
  double std = 0;
};
// Nothing of nothing.
std::optional<MeanStd> mean_std(std::span<const double> values);

struct Group {
  std::string label;              // "D-FROST", with what tells it from others of that name
  std::vector<std::size_t> runs;  // places in the list of runs
  std::vector<std::uint64_t> seeds;
  std::vector<std::optional<MeanStd>> figures;  // as compared_figures()
  std::optional<PaperFigure> paper;
};

// In the order of their first runs. A run that is not finished is not put together with those that are, nor
// one whose domains hold other pictures or whose seed is already there.
std::vector<Group> group_runs(std::span<const RunRecords> runs);

std::optional<PaperFigure> paper_figure(const RunRecords& run);

Json to_json(const Group& group);
Json to_json(const std::optional<PaperFigure>& figure);

}  // namespace dfrost
