// Divergences against SciPy's integral of what they are by definition, in both directions.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "privacy/accountant.h"
#include "support/support.h"

namespace dfrost {
namespace {

TEST(AccountantOracle, DivergencesAreTheIntegralsThatTheyStandFor) {
  nlohmann::json cases = nlohmann::json::array();
  for (const double rate : {1e-3, 0.04, 0.3, 0.7})
    for (const double noise : {0.6, 1.0, 2.5})
      for (const double order : {1.1, 1.5, 2.0, 3.7, 8.0, 10.3, 24.0, 40.0})
        cases.push_back({rate, noise, order});
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "cases.json", cases.dump());
  test::run_python("privacy/accountant_oracle.py", fmt::format("'{}'", (folder / "cases.json").string()));
  const auto theirs = nlohmann::json::parse(read_text_file(folder / "cases.json"));
  ASSERT_EQ(theirs.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto [rate, noise, order] = cases[i].get<std::array<double, 3>>();
    const double expected = theirs[i].get<double>();
    EXPECT_NEAR(gaussian_divergence(rate, noise, order), expected, 1e-6 * expected + 1e-12)
        << rate << " " << noise << " " << order;
  }
}

}  // namespace
}  // namespace dfrost
