// What was scored in a round, and its figures. Plain data.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "measure/figure.h"

namespace dfrost {

// Over clients.
struct Spread {
  double mean = 0;
  double std = 0;  // of the clients scored, not of an estimate: divided by their number
  double min = 0;
  double max = 0;
};
Spread spread_of(const std::vector<double>& values);

struct DomainAccuracy {
  std::string name;
  double masked = 0;  // mean over the scored clients
  double unmasked = 0;
};

// Scores on the global test set. Accuracies are shares, 0 to 1.
struct EvaluationRecord {
  std::vector<std::size_t> clients;  // who was scored
  std::size_t samples = 0;           // test pictures each was scored on
  Spread accuracy_masked;
  Spread accuracy_unmasked;
  double loss = 0;  // mean over the scored clients
  std::vector<DomainAccuracy> domains;
  // The network model: barycenter prompts and mean head.
  double network_accuracy_masked = 0;
  double network_accuracy_unmasked = 0;
  double network_loss = 0;
  std::vector<DomainAccuracy> network_domains;
};

template <>
const EvaluationRecord* part_of(const RoundRecord& record);

inline constexpr Figure kEvaluationFigures[] = {
    figure("evaluation.samples", "Test pictures", "pictures", Form::whole, Better::neither,
           figure_of<&EvaluationRecord::samples>, "Test pictures that each client was scored on.")
        .in_summary(Summary::last),
    figure("evaluation.accuracy_masked.mean", "Accuracy, masked", "share", Form::share, Better::higher,
           figure_of<&EvaluationRecord::accuracy_masked, &Spread::mean>,
           "Mean over the scored clients, on the global test set; only the classes of a picture's own domain "
           "compete.")
        .in_events("accuracy/masked")
        .in_summary(Summary::last)
        .compared({1, "accuracy_masked", "masked %", "Masked, %"}),
    figure("evaluation.accuracy_masked.std", "Accuracy, masked, deviation", "share", Form::share,
           Better::neither, figure_of<&EvaluationRecord::accuracy_masked, &Spread::std>,
           "Standard deviation over the scored clients.")
        .in_summary(Summary::last),
    figure("evaluation.accuracy_masked.min", "Accuracy, masked, worst client", "share", Form::share,
           Better::higher, figure_of<&EvaluationRecord::accuracy_masked, &Spread::min>,
           "Of the worst of them.")
        .in_events("accuracy/masked_worst_client")
        .in_summary(Summary::last),
    figure("evaluation.accuracy_masked.max", "Accuracy, masked, best client", "share", Form::share,
           Better::higher, figure_of<&EvaluationRecord::accuracy_masked, &Spread::max>,
           "Of the best of them.")
        .in_events("accuracy/masked_best_client")
        .in_summary(Summary::last),
    figure("evaluation.accuracy_unmasked.mean", "Accuracy, unmasked", "share", Form::share, Better::higher,
           figure_of<&EvaluationRecord::accuracy_unmasked, &Spread::mean>,
           "Mean over the scored clients, on the global test set; all classes compete.")
        .in_events("accuracy/unmasked")
        .in_summary(Summary::last)
        .compared({2, "accuracy_unmasked", "unmasked %", "Unmasked, %"}),
    figure("evaluation.accuracy_unmasked.std", "Accuracy, unmasked, deviation", "share", Form::share,
           Better::neither, figure_of<&EvaluationRecord::accuracy_unmasked, &Spread::std>,
           "Standard deviation over the scored clients.")
        .in_summary(Summary::last),
    figure("evaluation.accuracy_unmasked.min", "Accuracy, unmasked, worst client", "share", Form::share,
           Better::higher, figure_of<&EvaluationRecord::accuracy_unmasked, &Spread::min>,
           "Of the worst of them.")
        .in_summary(Summary::last),
    figure("evaluation.accuracy_unmasked.max", "Accuracy, unmasked, best client", "share", Form::share,
           Better::higher, figure_of<&EvaluationRecord::accuracy_unmasked, &Spread::max>,
           "Of the best of them.")
        .in_summary(Summary::last),
    figure("evaluation.loss", "Test loss", "nats", Form::decimals, Better::lower,
           figure_of<&EvaluationRecord::loss>, "Cross-entropy on the test set, mean over the scored clients.")
        .in_events("loss/test")
        .in_summary(Summary::last),
    figure(
        "evaluation.network_accuracy_masked", "Network model, masked", "share", Form::share, Better::higher,
        figure_of<&EvaluationRecord::network_accuracy_masked>,
        "Accuracy of the network model: the barycenter of all clients' prompts with the mean of their heads.")
        .in_events("accuracy/masked_network_model")
        .in_summary(Summary::last)
        .compared({3, "network_accuracy_masked", "network %", "Network, masked, %"}),
    figure("evaluation.network_accuracy_unmasked", "Network model, unmasked", "share", Form::share,
           Better::higher, figure_of<&EvaluationRecord::network_accuracy_unmasked>,
           "The same where all classes compete.")
        .in_events("accuracy/unmasked_network_model")
        .in_summary(Summary::last)
        .compared({4, "network_accuracy_unmasked", "network unmasked %", "Network, unmasked, %"}),
    figure("evaluation.network_loss", "Network model, test loss", "nats", Form::decimals, Better::lower,
           figure_of<&EvaluationRecord::network_loss>, "Cross-entropy of the network model on the test set.")
        .in_events("loss/test_network_model")
        .in_summary(Summary::last),
};

}  // namespace dfrost
