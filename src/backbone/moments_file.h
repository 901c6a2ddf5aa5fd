// Moments of a backbone's features over generic pictures, without prompts, kept beside its weights:
// moments-SIZE.safetensors with count [1], mean [width] and covariance [width·(width + 1)/2], its lower
// triangle row by row, all fp32. Its metadata say of which weights they are, at which image size, of how many
// pictures and how those were prepared. Reading refuses (data_loss) what is not of the model at hand, and
// what cannot be moments.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backbone/checkpoint.h"

namespace dfrost {

// How the name of such a file begins; none of a checkpoint's own does.
inline constexpr std::string_view kMomentsPrefix = "moments-";

struct FeatureMoments {
  float count = 0;
  std::vector<float> mean, covariance;
};

// What they are moments of. Those of another backbone, or of pictures prepared otherwise, do not fit.
struct MomentsOrigin {
  std::string weights;  // weights_fingerprint()
  std::size_t image_size = 0;
  std::size_t width = 0;
  std::string preparation;  // preparation_text()
};
MomentsOrigin moments_origin(const Checkpoint& checkpoint, std::string weights);

// Where they are looked for: in the folder of the weights. `backbone`: a file or a folder, not a name.
std::filesystem::path moments_file(const std::filesystem::path& backbone, std::size_t image_size);

// Throws (failed_precondition) where pictures were too few, or all alike.
void write_moments(const std::filesystem::path& path, const FeatureMoments& moments,
                   const MomentsOrigin& origin);
FeatureMoments read_moments(const std::filesystem::path& path, const MomentsOrigin& expected);

// Those in the backbone's folder. Throws (not_found) with the command that makes them where there are none.
FeatureMoments moments_beside(const std::filesystem::path& backbone, const MomentsOrigin& expected);

// 16 hexadecimal digits, to compare them by.
std::string moments_fingerprint(const FeatureMoments& moments);

}  // namespace dfrost
