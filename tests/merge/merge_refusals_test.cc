#include <gtest/gtest.h>

#include <limits>

#include "merge/neighbours.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::Points;

void refuses(const std::string& text, const MergeInput& input, const MergeOptions& options,
             MatrixView<float> merged) {
  test::expect_error(ErrorCode::invalid_argument, text, [&] { merge(input, options, merged); });
}

TEST(Merge, RefusesBadInputAndSaysWhichSender) {
  const Points a(2, 3), narrow(2, 2);
  auto bad = a;
  bad.values[5] = std::numeric_limits<float>::quiet_NaN();
  Points out(2, 3);
  const std::vector<MatrixView<const float>> none,
      good = {a.view(), a.view()}, mixed = {a.view(), narrow.view()}, nan = {a.view(), bad.view()},
      empty = {a.view(), {}};
  refuses("no prompt sets", {.senders = none}, {}, out.view());
  refuses("sender 1", {.senders = mixed}, {}, out.view());
  refuses("row 1, column 2 is nan", {.senders = nan}, {}, out.view());
  bad.values[5] = std::numeric_limits<float>::infinity();
  refuses("inf", {.senders = nan}, {}, out.view());
  refuses("empty", {.senders = empty}, {}, out.view());
  refuses("n = 0", {.senders = good}, {}, MatrixView<float>());
  refuses("rows of 2", {.senders = good}, {}, Points(2, 2).view());
  const std::vector<double> short_sum = {0.5, 0.4}, one = {1.0}, negative = {2, -1};
  refuses("sum to 0.9", {.senders = good, .weights = short_sum}, {}, out.view());
  refuses("1 weights for 2", {.senders = good, .weights = one}, {}, out.view());
  refuses("-1", {.senders = good, .weights = negative}, {}, out.view());
}

TEST(Merge, RefusesBadOptionsByName) {
  const Points a(2, 3);
  const std::vector<MatrixView<const float>> senders = {a.view()};
  Points out(2, 3), three(3, 3);
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  for (const double value : {0.0, -1.0, nan, infinity}) {
    refuses("epsilon", {.senders = senders}, {.epsilon = value}, out.view());
    refuses("sigma2", {.senders = senders}, {.sigma2 = value}, out.view());
  }
  for (const double value : {-1.0, nan, infinity}) {
    refuses("lambda", {.senders = senders}, {.lambda = value}, out.view());
    refuses("epsilon_init", {.senders = senders}, {.epsilon_init = value}, out.view());
    refuses("tolerance", {.senders = senders}, {.tolerance = value}, out.view());
  }
  refuses("steps", {.senders = senders}, {.steps = 0}, out.view());
  refuses("previous", {.senders = senders}, {.init = MergeInit::previous}, out.view());
  refuses("previous set has 2", {.senders = senders, .previous = a.view()}, {.init = MergeInit::previous},
          three.view());
  refuses("cannot take a set of 2", {.senders = senders}, {.kind = MergeKind::average}, three.view());
}

}  // namespace
}  // namespace dfrost
