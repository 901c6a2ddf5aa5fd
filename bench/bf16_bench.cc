// The bf16 arithmetic, piece by piece, for a machine that multiplies it (what needs that says so elsewhere):
// the product bare and with what is fused to it, over several ways of blocking it, attention, and what runs
// beside the tiles. Shapes are those of ViT-B/32 with 10 prompts, 8 images at a time: 480 rows.

#include <benchmark/benchmark.h>

#include <vector>

#include "kernels/bf16_blocks.h"
#include "kernels/bf16_gemm.h"
#include "kernels/bf16_ops.h"
#include "kernels/bf16_pack.h"
#include "kernels/bf16_rows.h"
#include "kernels/cpu.h"

namespace dfrost {
namespace {

bool lacks_bf16(benchmark::State& state) {
  if (bf16_usable()) return false;
  state.SkipWithError("this machine has neither AMX tiles nor AVX512_BF16");
  return true;
}

Matrix<float> some_numbers(std::size_t rows, std::size_t cols) {
  Matrix<float> m(rows, cols);
  for (std::size_t i = 0; i < rows * cols; ++i) m.data()[i] = 0.1f * static_cast<float>(i % 23) - 1.1f;
  return m;
}

void count_flops(benchmark::State& state, double flops_each) {
  state.counters["FLOP/s"] =
      benchmark::Counter(flops_each * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

struct Product {
  std::size_t m, n, k;
  Bf16Ops::Operand a;
  Bf16Ops::Weights w;
  std::vector<float> bias;

  explicit Product(const benchmark::State& state)
      : m(static_cast<std::size_t>(state.range(0))),
        n(static_cast<std::size_t>(state.range(1))),
        k(static_cast<std::size_t>(state.range(2))),
        w(some_numbers(n, k)),
        bias(n, 0.5f) {
    Bf16Ops::pack(some_numbers(m, k), a);
  }
  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

// The tiles alone: what any fused version can reach at most.
struct Discard {
  static constexpr bool kAccumulates = true;
  void prefetch(const BlockPlace&) const {}
  void operator()(const float* block, const BlockPlace&, bool, const BlockRows&) const {
    benchmark::DoNotOptimize(block);
  }
};

// Args: m, n, k, rows of tiles and tiles along k of a slab.
void BM_Blocking(benchmark::State& state) {
  if (lacks_bf16(state)) return;
  const Product p(state);
  const Blocking blocking{static_cast<std::size_t>(state.range(3)), static_cast<std::size_t>(state.range(4))};
  for (auto _ : state) multiply(p.a, p.w.panels(), blocking, Discard{});
  count_flops(state, p.flops());
}
BENCHMARK(BM_Blocking)
    ->ArgsProduct({{480}, {3072}, {768}, {8, 16, 30}, {8, 12, 24}})
    ->ArgsProduct({{480}, {768}, {3072}, {8, 16, 30}, {12, 16, 24, 32, 96}});

void BM_Product(benchmark::State& state) {
  if (lacks_bf16(state)) return;
  const Product p(state);
  Matrix<float> out(p.m, p.n);
  for (auto _ : state) Bf16Ops::product(p.a, p.w, p.bias, out);
  count_flops(state, p.flops());
}
BENCHMARK(BM_Product)
    ->Args({480, 768, 768})
    ->Args({480, 768, 2304})
    ->Args({480, 768, 3072})
    ->Args({1656, 768, 3072})
    ->Args({8, 768, 768});

void BM_ProductAdd(benchmark::State& state) {
  if (lacks_bf16(state)) return;
  const Product p(state);
  Matrix<float> out(p.m, p.n);
  std::fill_n(out.data(), p.m * p.n, 0.0f);
  for (auto _ : state) Bf16Ops::product_add(p.a, p.w, p.bias, out);
  count_flops(state, p.flops());
}
BENCHMARK(BM_ProductAdd)->Args({480, 768, 768})->Args({480, 768, 3072});

void BM_ProductNormalizeBackward(benchmark::State& state) {
  if (lacks_bf16(state)) return;
  const Product p(state);
  Matrix<float> dx(p.m, p.n);
  std::fill_n(dx.data(), p.m * p.n, 0.0f);
  Bf16Ops::Operand normalized;
  std::vector<float> inverse_std(p.m);
  Bf16Ops::normalize(some_numbers(p.m, p.n), 1e-6f, normalized, inverse_std);
  for (auto _ : state) Bf16Ops::product_normalize_backward(p.a, p.w, normalized, inverse_std, dx);
  count_flops(state, p.flops());
}
BENCHMARK(BM_ProductNormalizeBackward)->Args({480, 768, 2304})->Args({480, 768, 3072});

void BM_ProductRows(benchmark::State& state) {
  if (lacks_bf16(state)) return;
  const Product p(state);
  Bf16Ops::Rows out;
  for (auto _ : state) Bf16Ops::product_rows(p.a, p.w, p.bias, out);
  count_flops(state, p.flops());
}
BENCHMARK(BM_ProductRows)->Args({480, 2304, 768});

void BM_ProductGelu(benchmark::State& state) {
  if (lacks_bf16(state)) return;
  const Product p(state);
  Bf16Ops::Operand out;
  Bf16Ops::Factors derivative;
  for (auto _ : state) Bf16Ops::product_gelu(p.a, p.w, p.bias, out, &derivative);
  count_flops(state, p.flops());
}
BENCHMARK(BM_ProductGelu)->Args({480, 3072, 768});

void BM_ProductTimes(benchmark::State& state) {
  if (lacks_bf16(state)) return;
  const Product p(state);
  Bf16Ops::Factors factors;
  Bf16Ops::pack(some_numbers(p.m, p.n), factors);
  Bf16Ops::Operand out;
  for (auto _ : state) Bf16Ops::product_times(p.a, p.w, factors, out);
  count_flops(state, p.flops());
}
BENCHMARK(BM_ProductTimes)->Args({480, 3072, 768});

struct Attention {
  AttentionShape shape;
  Bf16Ops::Rows qkv, d_out;
  Bf16Ops::Probabilities saved;
  Bf16Ops::Operand out;

  explicit Attention(const benchmark::State& state)
      : shape{8, static_cast<std::size_t>(state.range(0)), 12, 64},
        qkv(shape.rows(), 3 * shape.width()),
        d_out(shape.rows(), shape.width()) {
    round_rows(some_numbers(qkv.rows(), qkv.cols()), qkv.row(0), qkv.stride());
    round_rows(some_numbers(d_out.rows(), d_out.cols()), d_out.row(0), d_out.stride());
  }
};

void BM_Attention(benchmark::State& state) {
  if (lacks_bf16(state)) return;
  Attention a(state);
  for (auto _ : state) Bf16Ops::attention(a.qkv, a.shape, a.out, &a.saved);
  state.SetItemsProcessed(state.iterations() * 8);
}
BENCHMARK(BM_Attention)->Arg(60)->Arg(207);

void BM_AttentionBackward(benchmark::State& state) {
  if (lacks_bf16(state)) return;
  Attention a(state);
  Bf16Ops::attention(a.qkv, a.shape, a.out, &a.saved);
  Bf16Ops::Operand d_qkv;
  for (auto _ : state) Bf16Ops::attention_backward(a.qkv, a.saved, a.d_out, a.shape, d_qkv);
  state.SetItemsProcessed(state.iterations() * 8);
}
BENCHMARK(BM_AttentionBackward)->Arg(60)->Arg(207);

// Beside the tiles; these run anywhere. One 32×32 block, or one head of 60 tokens.

void BM_GeluBlock(benchmark::State& state) {
  const Matrix<float> block = some_numbers(32, 32), bias = some_numbers(1, 32);
  TiledMatrix out(32, 32), derivative(32, 32);
  const TileColumn to{out.tile(0, 0), kTileSize}, slope{derivative.tile(0, 0), kTileSize};
  for (auto _ : state) {
    finish_block_with_gelu(block.data(), bias.data(), {0, 32}, to, slope);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_GeluBlock);

void BM_SoftmaxOfAHead(benchmark::State& state) {
  const Matrix<float> scores = some_numbers(32, 64);
  Matrix<float> work(32, 64);
  TiledMatrix out(32, 64);
  for (auto _ : state) {
    std::copy_n(scores.data(), 32 * 64, work.data());
    for (int strip = 0; strip < 2; ++strip) {
      softmax_to_tiles(work.data(), {2, 2, 30, 60}, 0.125f, out.tile(0, 0));
    }
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_SoftmaxOfAHead);

void BM_PackAHead(benchmark::State& state) {
  const Attention a(state);
  const Bf16Rows head{a.qkv.row(60), 60, 64, a.qkv.stride()};
  PanelMatrix straight, transposed;
  for (auto _ : state) {
    pack_panels(head, straight);
    pack_transposed(head, transposed);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_PackAHead)->Arg(60);

void BM_TransposeAHead(benchmark::State& state) {
  TiledMatrix from(64, 64), to(64, 64);
  for (auto _ : state) {
    transpose_tiles(from.tile(0, 0), 2, to.tile(0, 0));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_TransposeAHead);

void BM_StoreAHead(benchmark::State& state) {
  const Matrix<float> strip = some_numbers(60, 64);
  TiledMatrix out(480, 768);
  for (auto _ : state) {
    store_to_tiles(strip, out, 60, 64);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_StoreAHead);

void BM_Normalize(benchmark::State& state) {
  const Matrix<float> x = some_numbers(480, 768);
  Bf16Ops::Operand out;
  std::vector<float> inverse_std(480);
  for (auto _ : state) Bf16Ops::normalize(x, 1e-6f, out, inverse_std);
}
BENCHMARK(BM_Normalize);

void BM_NormalizeBackward(benchmark::State& state) {
  const Matrix<float> x = some_numbers(480, 768);
  Matrix<float> dx(480, 768);
  std::fill_n(dx.data(), 480 * 768, 0.0f);
  Bf16Ops::Operand normalized;
  std::vector<float> inverse_std(480);
  Bf16Ops::normalize(x, 1e-6f, normalized, inverse_std);
  for (auto _ : state) Bf16Ops::normalize_backward(x, normalized, inverse_std, dx);
}
BENCHMARK(BM_NormalizeBackward);

void BM_PackWeights(benchmark::State& state) {
  const Matrix<float> w = some_numbers(3072, 768);
  for (auto _ : state) benchmark::DoNotOptimize(Bf16Ops::Weights(w).bytes());
  state.SetItemsProcessed(state.iterations() * 3072 * 768);
}
BENCHMARK(BM_PackWeights);

}  // namespace
}  // namespace dfrost
