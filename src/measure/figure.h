// What a figure of a round is: its name, what it means, how it is printed, and where it is shown. Rows of the
// table stand beside the struct they are read from (records/record.h and its parts, evaluation_record.h), and
// metrics.jsonl, TensorBoard's events, the summary, `dfrost compare`, the report's page and
// docs/reference/records.md all follow from them (records/figure_table.h).
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>

#include "dfrost/figures.h"

namespace dfrost {

struct RoundRecord;

// How it is printed; whole numbers and bytes are also written as whole numbers.
enum class Form {
  whole,
  significant,  // three digits
  decimals,     // four
  share,        // in percent
  seconds,
  bytes,  // in megabytes
};

// Its chart on the report's page.
enum class Chart { none, from_zero, zero_to_one, log };

// Its place in summary.json, if any: of the last round or evaluation, or added up over rounds.
enum class Summary { none, last, total };

// In the table of `dfrost compare` and of a report of several runs; only of what the summary holds.
struct Column {
  int place = 0;                       // from the left, from 1; 0: none
  std::string_view name = {};          // in JSON: "accuracy_masked"
  std::string_view heading = {};       // in the terminal
  std::string_view page_heading = {};  // empty: the figure's title
};

struct Figure {
  std::string_view name;   // its path in a line of metrics.jsonl: "evaluation.loss"
  std::string_view title;  // for people
  std::string_view unit;   // as it is recorded; empty for a bare number
  Form form = Form::significant;
  Better better = Better::neither;
  // Nothing: not measured in this round; NaN: there was nothing to measure.
  std::optional<double> (*of)(const RoundRecord&) = nullptr;
  std::string_view meaning;  // a sentence or two
  // Where it is shown besides metrics.jsonl.
  std::string_view event = {};  // TensorBoard's tag; empty: not there
  Summary summary = Summary::none;
  Column column = {};
  Chart chart = Chart::none;
  bool only_with_merges =
      false;  // the page draws nothing of a round without merges, whatever is counted there

  // The same figure, shown there too: a row of the table is figure(…) and some of these.
  constexpr Figure in_events(std::string_view tag) const;
  constexpr Figure in_summary(Summary how) const;
  constexpr Figure compared(Column at) const;
  constexpr Figure drawn(Chart how) const;
  constexpr Figure of_merges() const;
};

constexpr Figure figure(std::string_view name, std::string_view title, std::string_view unit, Form form,
                        Better better, std::optional<double> (*of)(const RoundRecord&),
                        std::string_view meaning) {
  return {.name = name,
          .title = title,
          .unit = unit,
          .form = form,
          .better = better,
          .of = of,
          .meaning = meaning};
}
constexpr Figure Figure::in_events(std::string_view tag) const {
  Figure figure = *this;
  figure.event = tag;
  return figure;
}
constexpr Figure Figure::in_summary(Summary how) const {
  Figure figure = *this;
  figure.summary = how;
  return figure;
}
constexpr Figure Figure::compared(Column at) const {
  Figure figure = *this;
  figure.column = at;
  return figure;
}
constexpr Figure Figure::drawn(Chart how) const {
  Figure figure = *this;
  figure.chart = how;
  return figure;
}
constexpr Figure Figure::of_merges() const {
  Figure figure = *this;
  figure.only_with_merges = true;
  return figure;
}

// The part of a round's record that figures are read from; none where the round has no such part. A part's
// header declares its own, records/figure_table.cc says where it lies.
template <typename Part>
const Part* part_of(const RoundRecord& record);

namespace figure_parts {

template <typename Part, typename Value>
Part struct_of(Value Part::*);

// Of a list: how many there are.
template <typename Value>
std::optional<double> number(const Value& value) {
  if constexpr (requires { value.size(); })
    return static_cast<double>(value.size());
  else if constexpr (std::is_arithmetic_v<Value>)
    return static_cast<double>(value);
  else
    return value;
}

}  // namespace figure_parts

// What a row reads: figure_of<&AttackRecord::mass>.
template <auto field>
std::optional<double> figure_of(const RoundRecord& record) {
  const auto* part = part_of<decltype(figure_parts::struct_of(field))>(record);
  return part == nullptr ? std::nullopt : figure_parts::number(part->*field);
}
// A field's own: figure_of<&EvaluationRecord::accuracy_masked, &Spread::mean>.
template <auto field, auto inner>
std::optional<double> figure_of(const RoundRecord& record) {
  const auto* part = part_of<decltype(figure_parts::struct_of(field))>(record);
  return part == nullptr ? std::nullopt : figure_parts::number((part->*field).*inner);
}

}  // namespace dfrost
