#include "backbone/position_embeddings.h"

#include <gtest/gtest.h>

#include "base/safetensors.h"
#include "support/support.h"

namespace dfrost {
namespace {

TEST(InterpolatePositions, AgreesWithPyTorch) {
  const test::TemporaryFolder folder;
  test::run_python("backbone/checkpoint_oracle.py", "positions " + folder.path().string());
  const SafetensorsFile file(folder / "positions.safetensors");
  int compared = 0;
  for (const auto& [name, tensor] : file.content().tensors) {
    if (!name.ends_with(" in")) continue;
    const auto out_name = name.substr(0, name.size() - 2) + "out";
    const auto& expected = file.content().at(out_name);
    const auto found =
        interpolate_positions(read_floats(tensor, name), tensor.shape[0], expected.shape[0], 5);
    const auto values = read_floats(expected, out_name);
    ASSERT_EQ(found.size(), values.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], values[i], 1e-5) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 7);
}

TEST(InterpolatePositions, LeavesAConstantAlone) {
  const std::vector<float> positions(25, 3.0f);
  for (const float value : interpolate_positions(positions, 5, 8, 1)) EXPECT_NEAR(value, 3.0f, 1e-6);
}

}  // namespace
}  // namespace dfrost
