#include "merge/prompt_space.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/numbers.h"

namespace dfrost {
namespace {

Position random_position(std::size_t prompts, std::size_t rows, RandomStream& random) {
  Position position{DoubleMatrix(prompts, rows), std::vector<double>(prompts)};
  for (std::size_t i = 0; i < prompts; ++i) {
    double sum = 1e-3;
    // Column masses differ by many orders of magnitude, and some rows carry nothing.
    const double size = std::pow(10.0, random.uniform(-9, 0));
    for (double& weight : position.weights.row(i))
      sum += weight = random.below(2) ? 0.0 : size * random.uniform();
    position.scale[i] = 1 / sum;
  }
  return position;
}

TEST(PromptSpace, BothFormsAgreeOnEveryMove) {
  for (Seed seed = 0; seed < 20; ++seed) {
    RandomStream random(seed, "space");
    const std::size_t rows = 2 + random.below(60), prompts = 1 + random.below(11),
                      width = 1 + random.below(40);
    const DoubleMatrix z(test::random_points(rows, width, random).view());
    const auto gram = make_gram_space(z, prompts), direct = make_direct_space(z, prompts, 50);
    DoubleMatrix from_gram(prompts, rows), from_direct(prompts, rows);
    for (int move = 0; move < 12; ++move) {
      const auto position = random_position(prompts, rows, random);
      const double a = gram->move_to(position, from_gram).squared_length,
                   b = direct->move_to(position, from_direct).squared_length;
      EXPECT_NEAR(a, b, 1e-12 * (1 + b));
      EXPECT_NEAR(gram->squared_norm(), direct->squared_norm(), 1e-12 * (1 + direct->squared_norm()));
      const DoubleMatrix left = gram->prompts(), right = direct->prompts();
      for (std::size_t i = 0; i < prompts; ++i) {
        for (std::size_t k = 0; k < rows; ++k) {
          EXPECT_NEAR(from_gram(i, k), from_direct(i, k), 1e-11 * (1 + from_direct(i, k)));
        }
        for (std::size_t k = 0; k < width; ++k) EXPECT_NEAR(left(i, k), right(i, k), 1e-12);
      }
    }
  }
}

// From one place towards another, by steps that become smaller until they are none: on the way all of the
// direct form's ways of moving are taken.
TEST(PromptSpace, BothFormsAgreeAsMovesDieOut) {
  for (Seed seed = 0; seed < 10; ++seed) {
    RandomStream random(seed, "dying out");
    const std::size_t rows = 40, prompts = 4, width = 30;
    // Also where floats alone would overflow or vanish.
    const double scale = seed % 3 == 0 ? 1.0 : seed % 3 == 1 ? 1e-20 : 1e15, sharpness = 1 / (scale * scale);
    const DoubleMatrix z(test::random_points(rows, width, random, scale).view());
    const auto gram = make_gram_space(z, prompts), direct = make_direct_space(z, prompts, sharpness);
    const auto from = random_position(prompts, rows, random), to = random_position(prompts, rows, random);
    DoubleMatrix from_gram(prompts, rows), from_direct(prompts, rows);
    std::size_t moves = 0;
    for (double left = 1; moves < 80; left /= 3, ++moves) {
      Position position{DoubleMatrix(prompts, rows), std::vector<double>(prompts, 1.0)};
      for (std::size_t i = 0; i < prompts; ++i) {
        for (std::size_t k = 0; k < rows; ++k) {
          position.weights(i, k) =
              left * from.scale[i] * from.weights(i, k) + (1 - left) * to.scale[i] * to.weights(i, k);
        }
      }
      const Move a = gram->move_to(position, from_gram), b = direct->move_to(position, from_direct);
      EXPECT_NEAR(a.squared_length, b.squared_length, 1e-10 * scale * scale);
      for (std::size_t i = 0; i < prompts; ++i) {
        for (std::size_t k = 0; k < rows; ++k)
          EXPECT_NEAR(from_gram(i, k), from_direct(i, k), 1e-10 * scale * scale);
      }
      if (b.at_rest) break;
    }
    EXPECT_LT(moves, 80u);
    EXPECT_NEAR(gram->squared_norm(), direct->squared_norm(), 1e-10 * scale * scale);
    const DoubleMatrix left = gram->prompts(), right = direct->prompts();
    for (std::size_t i = 0; i < prompts; ++i) {
      for (std::size_t k = 0; k < width; ++k) EXPECT_NEAR(left(i, k), right(i, k), 1e-12 * scale);
    }
  }
}

TEST(PromptSpace, StandingStillMovesNothing) {
  RandomStream random(3, "still");
  const DoubleMatrix z(test::random_points(20, 5, random).view());
  const auto position = random_position(4, 20, random);
  const auto gram = make_gram_space(z, 4), direct = make_direct_space(z, 4, 50);
  for (const auto& space : {gram.get(), direct.get()}) {
    DoubleMatrix distances(4, 20);
    EXPECT_FALSE(space->move_to(position, distances).at_rest);
    const Move again = space->move_to(position, distances);
    EXPECT_TRUE(again.at_rest);
    EXPECT_EQ(again.squared_length, 0);
  }
}

TEST(ChooseForm, TakesTheCheaperOneAndTheDirectOneWhereGramSpaceWouldLoseDigits) {
  RandomStream random(4, "form");
  const DoubleMatrix few(test::random_points(60, 768, random, 0.02).view());
  const DoubleMatrix many(test::random_points(900, 8, random, 0.02).view());
  const DoubleMatrix large(test::random_points(60, 768, random, 1e15).view());
  EXPECT_EQ(choose_form(few, 10, 50, 50), MergeForm::gram);
  EXPECT_EQ(choose_form(many, 10, 50, 50), MergeForm::direct);
  EXPECT_EQ(choose_form(large, 10, 50, 50), MergeForm::direct);
  EXPECT_EQ(choose_form(few, 10, 50, 1e12), MergeForm::direct);
}

}  // namespace
}  // namespace dfrost
