// The figures that a run records of every round: what there is to ask for by name, and what was measured.
// The names are those of a line of metrics.jsonl (docs/reference/records.md).
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace dfrost {

enum class Better { neither, lower, higher };

// Static storage.
struct FigureInfo {
  std::string_view name;     // "consensus_error", "evaluation.accuracy_masked.mean"
  std::string_view title;    // for people
  std::string_view unit;     // as it is recorded; empty for a bare number
  std::string_view meaning;  // a sentence or two
  Better better = Better::neither;
};

// In the order in which they are recorded.
std::span<const FigureInfo> known_figures();

// Some of them, with their values.
class FigureValues {
 public:
  FigureValues();

  // Nothing: not measured here; NaN: there was nothing to measure. Throws (invalid_argument, with the nearest
  // name as a hint) for a name that no figure has.
  std::optional<double> get(std::string_view name) const;
  void set(std::string_view name, double value);
  // Of those that were measured, in the order of known_figures().
  std::vector<std::string_view> names() const;

 private:
  std::vector<std::optional<double>> values_;  // one per known figure
};

}  // namespace dfrost
