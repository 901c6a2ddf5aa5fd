// Where the time of a round went, and its figures.
#pragma once

#include "measure/figure.h"

namespace dfrost {

// Wall clock, all clients. Where stages go on side by side, their time is split by what each took.
struct StageSeconds {
  double train = 0;
  double exchange = 0;  // encode, send, receive, check
  double merge = 0;     // prompts and all else, without what is measured of it
  double evaluate = 0;
  double measure = 0;  // errors of consensus and merges, mixing factor, views
  double total() const { return train + exchange + merge + evaluate + measure; }
  StageSeconds& operator+=(const StageSeconds& other);
};

template <>
const StageSeconds* part_of(const RoundRecord& record);

inline std::optional<double> all_stages(const RoundRecord& record) {
  return part_of<StageSeconds>(record)->total();
}

inline constexpr Figure kSecondsFigures[] = {
    figure("seconds.train", "Time, train", "s", Form::seconds, Better::lower, figure_of<&StageSeconds::train>,
           "Training of all clients.")
        .in_events("seconds/train")
        .in_summary(Summary::total),
    figure("seconds.exchange", "Time, exchange", "s", Form::seconds, Better::lower,
           figure_of<&StageSeconds::exchange>, "Encoding, sending, receiving and checking messages.")
        .in_events("seconds/exchange")
        .in_summary(Summary::total),
    figure("seconds.merge", "Time, merge", "s", Form::seconds, Better::lower, figure_of<&StageSeconds::merge>,
           "The merge alone, of prompts and all else.")
        .in_events("seconds/merge")
        .in_summary(Summary::total),
    figure("seconds.evaluate", "Time, evaluate", "s", Form::seconds, Better::lower,
           figure_of<&StageSeconds::evaluate>, "Scoring on the test set.")
        .in_events("seconds/evaluate")
        .in_summary(Summary::total),
    figure("seconds.measure", "Time, measure", "s", Form::seconds, Better::lower,
           figure_of<&StageSeconds::measure>,
           "The consensus error and the network model, the mixing factor, and of every merge its error and "
           "its view.")
        .in_events("seconds/measure")
        .in_summary(Summary::total),
    figure("seconds.total", "Time", "s", Form::seconds, Better::lower, all_stages,
           "Wall clock of all stages; writing records and checkpoints is not in it.")
        .in_events("seconds/total")
        .in_summary(Summary::total)
        .compared({6, "seconds", "seconds"}),
};

}  // namespace dfrost
