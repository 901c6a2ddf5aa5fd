#include "data/statistics.h"

#include <algorithm>
#include <cmath>

#include "data/decoding_budget.h"

namespace dfrost {
namespace {

constexpr std::size_t kPicturesPerJob = 512;

struct Sums {
  std::uint64_t pixels = 0;
  std::array<std::uint64_t, 3> sum{};
  std::array<std::uint64_t, 3> squares{};
  bool grey = true;
};

void add_picture(Sums& sums, const ImageView& image) {
  const std::size_t pixels = image.width * image.height;
  sums.pixels += pixels;
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::uint8_t* pixel = image.rgb + 3 * i;
    for (std::size_t c = 0; c < 3; ++c) {
      sums.sum[c] += pixel[c];
      sums.squares[c] += std::uint64_t{pixel[c]} * pixel[c];
    }
    sums.grey = sums.grey && pixel[0] == pixel[1] && pixel[0] == pixel[2];
  }
}

}  // namespace

ChannelStatistics channel_statistics(const PictureSet& set, const ReadOptions& options) {
  std::vector<Sums> jobs((set.size() + kPicturesPerJob - 1) / kPicturesPerJob);
  parallel_for(options, jobs.size(), [&](std::size_t job, std::size_t) {
    const std::size_t last = std::min(set.size(), (job + 1) * kPicturesPerJob);
    for (std::size_t i = job * kPicturesPerJob; i < last; ++i) {
      const DecodingShare share;
      Image scratch;
      add_picture(jobs[job], view_picture(set, i, scratch));
    }
  });
  Sums total;
  for (const Sums& job : jobs) {
    total.pixels += job.pixels;
    total.grey = total.grey && job.grey;
    for (std::size_t c = 0; c < 3; ++c) {
      total.sum[c] += job.sum[c];
      total.squares[c] += job.squares[c];
    }
  }
  ChannelStatistics statistics;
  statistics.grey = total.grey;
  if (total.pixels == 0) return statistics;
  const double pixels = static_cast<double>(total.pixels);
  for (std::size_t c = 0; c < 3; ++c) {
    const double mean = static_cast<double>(total.sum[c]) / pixels;
    const double variance = static_cast<double>(total.squares[c]) / pixels - mean * mean;
    statistics.mean[c] = mean / 255;
    statistics.std[c] = std::sqrt(std::max(0.0, variance)) / 255;
  }
  return statistics;
}

}  // namespace dfrost
