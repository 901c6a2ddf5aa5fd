#include "kernels/encoder_ops.h"

#include <gtest/gtest.h>

#include "kernels/bf16_ops.h"
#include "kernels/fp32_ops.h"

namespace dfrost {
namespace {

// Names that hide Fp32Ops' own.
struct WithoutGelu : Fp32Ops {
  static void product_gelu() = delete;
};
struct WithoutAWayBack : Fp32Ops {
  static void attention_backward() = delete;
};
struct WithoutGates : Fp32Ops {
  static void gated_attention() = delete;
};
struct WithWeightsOfUnknownSize : Fp32Ops {
  struct Weights {
    explicit Weights(MatrixView<const float> matrix);
  };
};
// A product that takes its result for its bias would compile if anything of that name would do.
struct WithArgumentsExchanged : Fp32Ops {
  static void product(const Operand& a, const Weights& w, MatrixView<float> out, std::span<const float> bias);
};

TEST(EncoderOps, AreBothArithmetics) {
  EXPECT_TRUE(EncoderOps<Fp32Ops>);
  EXPECT_TRUE(EncoderOps<Bf16Ops>);
  EXPECT_TRUE(GatedAttentionOps<Fp32Ops>);
  EXPECT_TRUE(GatedAttentionOps<Bf16Ops>);
}

TEST(EncoderOps, AreNotAnArithmeticThatLacksAMemberOrMeansAnotherByIt) {
  EXPECT_FALSE(EncoderOps<WithoutGelu>);
  EXPECT_FALSE(EncoderOps<WithoutAWayBack>);
  EXPECT_FALSE(EncoderOps<WithWeightsOfUnknownSize>);
  EXPECT_FALSE(EncoderOps<WithArgumentsExchanged>);
  EXPECT_TRUE(ProductOps<WithoutAWayBack>);
  EXPECT_TRUE(EncoderOps<WithoutGates>);
  EXPECT_FALSE(GatedAttentionOps<WithoutGates>);
}

}  // namespace
}  // namespace dfrost
