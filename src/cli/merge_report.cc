#include "cli/merge_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "merge/merge_kinds.h"
#include "merge/merge_words.h"

namespace dfrost::cli {
namespace {

std::string line(std::string_view name, const std::string& text) {
  return fmt::format("{:<16}{}\n", name, text);
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string objective_line(const MergeReport& report) {
  const auto& summary = report.summary;
  if (!traits_of(report.options.kind).has_theorem)
    return fmt::format("{:.6g} (weighted sum of W2^2)", summary.objective.back());
  return fmt::format("{:.6g} -> {:.6g} in {} step{}", summary.initial_objective, summary.objective.back(),
                     summary.steps, summary.steps == 1 ? "" : "s");
}

std::string theorem_line(const TheoremCheck& theorem) {
  return fmt::format("{}: the smallest step is {:.3g}, the bound {:.3g}", theorem.held ? "holds" : "VIOLATED",
                     theorem.smallest_delta, theorem.bound);
}

// The prompts that are dead in the end, and those that only were so on the way.
std::string dead_line(const MergeSummary& summary) {
  std::vector<std::size_t> revived;
  std::ranges::set_difference(summary.died, summary.dead, std::back_inserter(revived));
  const std::string dead = summary.dead.empty() ? "none" : fmt::format("{}", fmt::join(summary.dead, ", "));
  return revived.empty() ? dead : fmt::format("{}; for some steps also {}", dead, fmt::join(revived, ", "));
}

std::string ot_lines(const MergeReport& report) {
  const auto& summary = report.summary;
  std::string text = line("last step", fmt::format("moved {:.3g}: {}", summary.delta.back(),
                                                   summary.converged ? "converged" : "not converged"));
  text += line("dead prompts", dead_line(summary));
  if (summary.reseeds > 0) text += line("reseeded", fmt::format("{} times", summary.reseeds));
  return text + line("theorem 1", theorem_line(summary.theorem));
}

// "A[3]" for every row of every sender.
std::vector<std::string> row_names(std::span<const PromptFile> senders) {
  std::vector<std::string> names;
  for (const auto& sender : senders) {
    for (std::size_t r = 0; r < sender.prompts; ++r) names.push_back(fmt::format("{}[{}]", sender.name, r));
  }
  return names;
}

// The rows that make up a merged prompt, largest first, down to one hundredth of its mass.
std::string sources(const MergeReport& report, const std::vector<std::string>& names, std::size_t prompt) {
  const auto& summary = report.summary;
  const auto mass = [&](std::size_t row) { return summary.plan[row * report.prompts + prompt]; };
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < names.size(); ++row) {
    if (mass(row) > 0 && mass(row) >= 0.01 * summary.column_mass[prompt]) rows.push_back(row);
  }
  std::ranges::stable_sort(rows, [&](std::size_t a, std::size_t b) { return mass(a) > mass(b); });
  std::vector<std::string> parts;
  for (const std::size_t row : rows) {
    parts.push_back(fmt::format("{} {:.0f} %", names[row], 100 * mass(row) / summary.column_mass[prompt]));
  }
  return parts.empty() ? "nothing: it is dead" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

nlohmann::ordered_json to_json(const MergeReport& report) {
  const auto& summary = report.summary;
  nlohmann::ordered_json senders = nlohmann::ordered_json::array();
  for (const auto& sender : report.senders)
    senders.push_back({{"path", sender.path}, {"prompts", sender.prompts}});
  nlohmann::ordered_json plan = nlohmann::ordered_json::array();
  for (auto row = summary.plan.begin(); row != summary.plan.end();
       row += static_cast<std::ptrdiff_t>(report.prompts)) {
    plan.push_back(std::vector<double>(row, row + static_cast<std::ptrdiff_t>(report.prompts)));
  }
  return {{"out", report.out},
          {"kind", word_of(kMergeKinds, report.options.kind)},
          {"senders", senders},
          {"N", plan.size()},
          {"n", report.prompts},
          {"d", report.senders.front().width},
          {"form", word_of(kMergeForms, summary.form)},
          {"steps", summary.steps},
          {"converged", summary.converged},
          {"initial_objective", summary.initial_objective},
          {"objective", summary.objective},
          {"delta", summary.delta},
          {"column_mass", summary.column_mass},
          {"dead", summary.dead},
          {"died", summary.died},
          {"reseeds", summary.reseeds},
          {"off_index_mass", summary.off_index_mass},
          {"merge_error", report.merge_error},
          {"theorem",
           {{"held", summary.theorem.held},
            {"smallest_delta", summary.theorem.smallest_delta},
            {"bound", summary.theorem.bound}}},
          {"plan", plan}};
}

std::string explain(const MergeReport& report) {
  const auto& [out, senders, options, summary, prompts, merge_error] = report;
  std::string text;
  if (traits_of(options.kind).has_theorem) {
    text += line("merge", fmt::format("ot, epsilon {:g}, lambda {:g}, sigma2 {:g}, {} form", options.epsilon,
                                      options.lambda, options.sigma2, word_of(kMergeForms, summary.form)));
  } else {
    text += line("merge", std::string(word_of(kMergeKinds, options.kind)));
  }
  if (!summary.objective.empty()) text += line("objective", objective_line(report));
  if (traits_of(options.kind).has_theorem) text += ot_lines(report);
  text +=
      line("merge error", fmt::format("{:.6g} (W2^2 between what came in and what came out)", merge_error));
  text += line("off-index mass",
               percent(summary.off_index_mass) + (summary.off_index_mass < 1e-3
                                                      ? ": averaging by index would have done the same"
                                                      : " left its own index"));
  text += "\nmerged prompt    mass   comes from\n";
  const auto names = row_names(senders);
  for (std::size_t i = 0; i < prompts; ++i) {
    text += fmt::format("{:>13}{:>8}   {}\n", i, percent(summary.column_mass[i]), sources(report, names, i));
  }
  return text;
}

}  // namespace dfrost::cli
