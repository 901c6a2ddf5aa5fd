#include "train/head_frame.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace dfrost {
namespace {

Matrix<float> random_matrix(std::size_t rows, std::size_t cols, RandomStream& random, double shift = 0) {
  Matrix<float> matrix(rows, cols);
  for (std::size_t i = 0; i < rows * cols; ++i)
    matrix.data()[i] = static_cast<float>(shift + random.normal());
  return matrix;
}

// Inputs whose mean is long and whose dimensions go together.
Matrix<float> skewed_inputs(std::size_t rows, std::size_t cols, RandomStream& random) {
  auto inputs = random_matrix(rows, cols, random, 3);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t i = 1; i < cols; ++i) inputs.row(r)[i] += 0.8f * inputs.row(r)[i - 1];
  return inputs;
}

HeadFrame frame_for(const Matrix<float>& inputs, bool whitened, double shrinkage = 0.1) {
  InputSums moments(inputs.cols(), whitened);
  moments.add(inputs);
  const auto parts = frame_parts(moments_of(moments), shrinkage);
  return HeadFrame(parts.value().mean, parts.value().factor);
}

TEST(HeadFrame, ThereAndBackChangesNothing) {
  RandomStream random(1, "frame");
  for (const bool whitened : {false, true}) {
    const auto inputs = skewed_inputs(200, 48, random);
    const auto frame = frame_for(inputs, whitened);
    auto weight = random_matrix(7, 48, random), bias = random_matrix(1, 7, random);
    const auto weight_before = std::vector<float>(weight.data(), weight.data() + 7 * 48);
    const auto bias_before = std::vector<float>(bias.data(), bias.data() + 7);
    frame.enter(weight, bias.row(0));
    frame.leave(weight, bias.row(0));
    for (std::size_t i = 0; i < weight_before.size(); ++i)
      EXPECT_NEAR(weight.data()[i], weight_before[i], 2e-6);
    for (std::size_t i = 0; i < 7; ++i) EXPECT_NEAR(bias.data()[i], bias_before[i], 2e-5);
  }
}

TEST(HeadFrame, GivesTheSameLogitsInOtherCoordinates) {
  RandomStream random(2, "frame");
  for (const bool whitened : {false, true}) {
    const auto inputs = skewed_inputs(60, 20, random);
    const auto frame = frame_for(inputs, whitened);
    auto weight = random_matrix(5, 20, random), bias = random_matrix(1, 5, random),
         turned = random_matrix(5, 20, random);
    std::copy_n(weight.data(), 100, turned.data());
    auto turned_bias = random_matrix(1, 5, random);
    std::copy_n(bias.data(), 5, turned_bias.data());
    frame.enter(turned, turned_bias.row(0));
    Matrix<float> coordinates;
    frame.apply(inputs, coordinates);
    for (std::size_t r = 0; r < inputs.rows(); ++r) {
      for (std::size_t c = 0; c < 5; ++c) {
        double plain = static_cast<double>(bias.data()[c]),
               framed = static_cast<double>(turned_bias.data()[c]);
        for (std::size_t i = 0; i < 20; ++i) {
          plain += static_cast<double>(weight.row(c)[i]) * static_cast<double>(inputs.row(r)[i]);
          framed += static_cast<double>(turned.row(c)[i]) * static_cast<double>(coordinates.row(r)[i]);
        }
        EXPECT_NEAR(framed, plain, 1e-4);
      }
    }
  }
}

TEST(HeadFrame, WhitenedCoordinatesHaveMeanZeroAndTheUnitCovariance) {
  RandomStream random(3, "frame");
  const auto inputs = skewed_inputs(500, 12, random);
  const auto frame = frame_for(inputs, true, 0);
  Matrix<float> coordinates;
  frame.apply(inputs, coordinates);
  InputSums moments(12, true);
  moments.add(coordinates);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_NEAR(moments.sum[i] / moments.count, 0, 1e-5);
    for (std::size_t j = 0; j <= i; ++j)
      EXPECT_NEAR(moments.products[triangle_size(i) + j] / moments.count, i == j ? 1 : 0, 1e-4);
  }
}

TEST(HeadFrame, TakesGradientsBackAsTheTransposeOfItself) {
  RandomStream random(4, "frame");
  for (const bool whitened : {false, true}) {
    const auto inputs = skewed_inputs(40, 10, random);
    const auto frame = frame_for(inputs, whitened);
    const auto a = random_matrix(3, 10, random), d = random_matrix(3, 10, random), zero = [] {
      Matrix<float> all(3, 10);
      std::fill_n(all.data(), 30, 0.0f);
      return all;
    }();
    Matrix<float> moved, origin, back(3, 10);
    frame.apply(a, moved);
    frame.apply(zero, origin);
    frame.apply_backward(d, back);
    double left = 0, right = 0;
    for (std::size_t i = 0; i < 30; ++i) {
      left += static_cast<double>((moved.data()[i] - origin.data()[i]) * d.data()[i]);
      right += static_cast<double>(a.data()[i] * back.data()[i]);
    }
    EXPECT_NEAR(left, right, 1e-4 * (1 + std::abs(left)));
  }
}

TEST(HeadFrame, LeavingTakesAStepInItsCoordinatesToTheOneThatItMeans) {
  RandomStream random(5, "frame");
  const auto inputs = skewed_inputs(40, 10, random);
  const auto frame = frame_for(inputs, true);
  const auto weight = random_matrix(4, 10, random), gradient = random_matrix(4, 10, random);
  const auto bias = random_matrix(1, 4, random), bias_gradient = random_matrix(1, 4, random);
  Matrix<float> stepped(4, 10), stepped_bias(1, 4), turned(4, 10), turned_bias(1, 4);
  std::copy_n(weight.data(), 40, stepped.data());
  std::copy_n(bias.data(), 4, stepped_bias.data());
  std::copy_n(gradient.data(), 40, turned.data());
  std::copy_n(bias_gradient.data(), 4, turned_bias.data());
  frame.enter(stepped, stepped_bias.row(0));
  for (std::size_t i = 0; i < 40; ++i) stepped.data()[i] -= 0.1f * gradient.data()[i];
  for (std::size_t i = 0; i < 4; ++i) stepped_bias.data()[i] -= 0.1f * bias_gradient.data()[i];
  frame.leave(stepped, stepped_bias.row(0));
  frame.leave(turned, turned_bias.row(0));
  for (std::size_t i = 0; i < 40; ++i)
    EXPECT_NEAR(stepped.data()[i], weight.data()[i] - 0.1f * turned.data()[i], 1e-5);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(stepped_bias.data()[i], bias.data()[i] - 0.1f * turned_bias.data()[i], 1e-4);
}

TEST(InputMoments, OfTwoPopulationsMixedAreThoseOfAllTheirPictures) {
  RandomStream random(7, "mixed");
  const auto a = skewed_inputs(30, 6, random), b = skewed_inputs(50, 6, random);
  InputSums of_a(6, true), of_b(6, true), of_all(6, true);
  of_a.add(a);
  of_b.add(b);
  of_all.add(a);
  of_all.add(b);
  const auto floats = [](const auto& values) { return std::vector<float>(values.begin(), values.end()); };
  const auto first = moments_of(of_a), second = moments_of(of_b), all = moments_of(of_all);
  const std::vector<float> first_count = {30}, second_count = {50};
  const auto first_mean = floats(first.mean), second_mean = floats(second.mean);
  const auto first_covariance = floats(first.covariance), second_covariance = floats(second.covariance);
  const std::vector<WeightedMoments> both = {{0.5, first_count, first_mean, first_covariance},
                                             {0.5, second_count, second_mean, second_covariance}};
  const auto mixed = mixed_moments(both);
  EXPECT_NEAR(mixed.count, 40, 1e-12);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(mixed.mean[i], all.mean[i], 1e-5);
  for (std::size_t i = 0; i < all.covariance.size(); ++i)
    EXPECT_NEAR(mixed.covariance[i], all.covariance[i], 1e-4);
}

TEST(HeadFrame, IsMadeOfFewPicturesAndOfNoneWhereThereIsNothingToSee) {
  RandomStream random(6, "frame");
  const auto few = skewed_inputs(3, 30, random);
  const auto frame = frame_for(few, true);  // the covariance has rank two
  Matrix<float> coordinates;
  frame.apply(few, coordinates);
  for (std::size_t i = 0; i < 90; ++i) EXPECT_TRUE(std::isfinite(coordinates.data()[i]));
  EXPECT_FALSE(frame_parts(moments_of(InputSums(30, true)), 0.1).has_value());
  InputSums alike(5, true);
  Matrix<float> same(4, 5);
  std::fill_n(same.data(), 20, 2.0f);
  alike.add(same);
  EXPECT_FALSE(frame_parts(moments_of(alike), 0.1).has_value());
  // What noise has left without a covariance still has a frame.
  InputSums noisy(5, true);
  noisy.add(random_matrix(50, 5, random));
  noisy.products[triangle_size(1)] += 80;
  EXPECT_TRUE(frame_parts(moments_of(noisy), 0).has_value());
}

}  // namespace
}  // namespace dfrost
