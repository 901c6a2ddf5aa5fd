#include "measure/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dfrost/error.h"

namespace dfrost {
namespace {

std::vector<DomainAccuracy> mean_by_domain(const Corpus& corpus, std::span<const Evaluation> evaluations) {
  std::vector<DomainAccuracy> domains;
  for (std::size_t d = 0; d < corpus.domains.size(); ++d) {
    DomainAccuracy mean{corpus.domains[d].name, 0, 0};
    for (const auto& evaluation : evaluations) {
      mean.masked += evaluation.domains[d].accuracy_masked() / static_cast<double>(evaluations.size());
      mean.unmasked += evaluation.domains[d].accuracy_unmasked() / static_cast<double>(evaluations.size());
    }
    domains.push_back(mean);
  }
  return domains;
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  const double count = static_cast<double>(values.size());
  Spread spread;
  for (const double value : values) spread.mean += value / count;
  for (const double value : values) spread.std += (value - spread.mean) * (value - spread.mean) / count;
  spread.std = std::sqrt(spread.std);
  spread.min = *std::ranges::min_element(values);
  spread.max = *std::ranges::max_element(values);
  return spread;
}

void require_test_pictures(const Corpus& corpus) {
  for (const auto& domain : corpus.domains) {
    if (domain.test_count > 0) continue;
    throw Error(
        ErrorCode::failed_precondition,
        fmt::format("{} has no test pictures: nothing to score on", domain.name),
        "add some in a folder 'test' beside 'train', or have five pictures of a class: a fifth of them "
        "is then held out")
        .at(domain.name);
  }
}

std::vector<std::size_t> scored_clients(const ScoringOptions& options, std::size_t clients) {
  const std::size_t wanted = options.clients == 0 ? clients : options.clients;
  const std::size_t count = std::min(wanted, clients);
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(i * clients / count);
  return chosen;
}

std::vector<std::size_t> scored_samples(const ScoringOptions& options, const Corpus& corpus, Seed seed) {
  std::vector<std::size_t> samples;
  for (const auto& domain : corpus.domains) {
    const std::size_t wanted = options.samples == 0 ? domain.test_count : options.samples;
    std::vector<int> labels;
    for (std::size_t i = 0; i < domain.test_count; ++i) {
      labels.push_back(corpus.test.labels[domain.first_test + i] - domain.first_class);
    }
    RandomStream stream(seed, "evaluate " + domain.name);
    for (const std::size_t i :
         balanced_subset(labels, domain.class_names.size(), std::min(wanted, domain.test_count), stream)) {
      samples.push_back(domain.first_test + i);
    }
  }
  return samples;
}

EvaluationRecord summarize_scores(const Corpus& corpus, const std::vector<std::size_t>& chosen,
                                  std::size_t samples, std::span<const Evaluation> scores) {
  EvaluationRecord record;
  record.clients = chosen;
  record.samples = samples;
  std::vector<double> masked, unmasked;
  for (const auto& score : scores.first(chosen.size())) {
    const auto total = score.total();
    masked.push_back(total.accuracy_masked());
    unmasked.push_back(total.accuracy_unmasked());
    record.loss += total.loss() / static_cast<double>(chosen.size());
  }
  record.accuracy_masked = spread_of(masked);
  record.accuracy_unmasked = spread_of(unmasked);
  record.domains = mean_by_domain(corpus, scores.first(chosen.size()));
  if (scores.size() == chosen.size()) {
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    record.network_accuracy_masked = record.network_accuracy_unmasked = record.network_loss = kUnknown;
    return record;
  }
  record.network_domains = mean_by_domain(corpus, scores.last(1));
  const auto network = scores.back().total();
  record.network_accuracy_masked = network.accuracy_masked();
  record.network_accuracy_unmasked = network.accuracy_unmasked();
  record.network_loss = network.loss();
  return record;
}

}  // namespace dfrost
