#include <array>
#include <cassert>
#include <dnnl.hpp>
#include <map>
#include <mutex>
#include <unordered_map>

#include "dfrost/error.h"
#include "kernels/fp32_ops.h"
#include "kernels/onednn_error.h"
#include "kernels/onednn_section.h"

namespace dfrost {
namespace {

using dnnl::memory;

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

memory::desc row_major(std::size_t rows, std::size_t cols, std::size_t stride) {
  return {{static_cast<memory::dim>(rows), static_cast<memory::dim>(cols)},
          memory::data_type::f32,
          memory::dims{static_cast<memory::dim>(stride), 1}};
}

// A product for one number of rows. oneDNN's own scratch memory belongs to the thread that created the
// primitive, so it is asked for from us instead, and every thread brings its own.
struct Product {
  dnnl::matmul primitive;
  memory::desc scratch;
};

std::byte* scratch_memory(std::size_t bytes) {
  thread_local AlignedBuffer<std::byte> buffer;
  if (buffer.size() < bytes) buffer.resize(bytes);
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDelete): what resize frees, it replaces
  return buffer.data();
}

// An argument of oneDNN's, row-major. To make one takes half a dozen small allocations, so each thread makes
// one of a kind and has it point elsewhere from then on; two arguments of a product are never the same.
memory& argument(int which, std::size_t rows, std::size_t cols, std::size_t stride, const void* data) {
  thread_local std::map<std::array<std::size_t, 4>, memory> made;
  const std::array kind = {static_cast<std::size_t>(which), rows, cols, stride};
  auto found = made.find(kind);
  if (found == made.end())
    found = made.emplace(kind, memory(row_major(rows, cols, stride), cpu_engine(), nullptr)).first;
  // oneDNN has no memory that is only read; what it is told to be a source it does not write.
  found->second.set_data_handle(const_cast<void*>(data));
  return found->second;
}

struct ProductShape {
  std::size_t rows, a_stride, out_stride;
  bool bias, accumulate;
  bool operator==(const ProductShape&) const = default;
};

struct HashShape {
  std::size_t operator()(const ProductShape& s) const {
    return (((s.rows * 31 + s.a_stride) * 31 + s.out_stride) * 2 + s.bias) * 2 + s.accumulate;
  }
};

dnnl::matmul::primitive_desc describe(const ProductShape& shape, std::size_t inputs, std::size_t outputs,
                                      const memory::desc& weights) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (shape.accumulate) {
    dnnl::post_ops add;
    add.append_sum(1.0f);
    attributes.set_post_ops(add);
  }
  const auto a = row_major(shape.rows, inputs, shape.a_stride);
  const auto out = row_major(shape.rows, outputs, shape.out_stride);
  const auto bias = row_major(1, outputs, outputs);
  const auto what =
      shape.bias ? dnnl::matmul::desc(a, weights, bias, out) : dnnl::matmul::desc(a, weights, out);
  return {what, attributes, cpu_engine()};
}

// Every call of oneDNN goes through here, so that what it throws is an Error of ours.
template <typename Work>
void with_onednn(const Work& work) {
  const OneDnnSection section;
  try {
    work();
  } catch (const dnnl::error& error) {
    throw onednn_error(error.status);
  }
}

// The layout is asked for at this many rows, a chunk of a ViT-B/32 batch; other counts use what it gives.
constexpr std::size_t kTypicalRows = 480;

}  // namespace

struct Fp32Ops::Weights::Packed {
  WeightRoom room;  // none where oneDNN has its own for the matrix
  memory matrix;
  mutable std::mutex mutex;
  mutable std::unordered_map<ProductShape, Product, HashShape> products;

  const Product& product(const ProductShape& shape, std::size_t inputs, std::size_t outputs) const {
    const std::lock_guard lock(mutex);
    if (const auto found = products.find(shape); found != products.end()) return found->second;
    require_room_for_code();
    const auto description = describe(shape, inputs, outputs, matrix.get_desc());
    return products.emplace(shape, Product{dnnl::matmul(description), description.scratchpad_desc()})
        .first->second;
  }
};

Fp32Ops::Weights::Weights() = default;
Fp32Ops::Weights::~Weights() = default;
Fp32Ops::Weights::Weights(Weights&&) noexcept = default;
Fp32Ops::Weights& Fp32Ops::Weights::operator=(Weights&&) noexcept = default;

Fp32Ops::Weights::Weights(MatrixView<const float> matrix) : Weights(matrix.rows(), matrix.cols(), {}) {
  fill(matrix);
}

Fp32Ops::Weights::Weights(std::size_t outputs, std::size_t inputs, const WeightShelf& shelf)
    : packed_(std::make_unique<Packed>()), outputs_(outputs), inputs_(inputs) {
  with_onednn([&] { lay_out(shelf); });
}

void Fp32Ops::Weights::lay_out(const WeightShelf& shelf) {
  require_room_for_code();
  const auto n = static_cast<memory::dim>(outputs_), k = static_cast<memory::dim>(inputs_);
  const memory::desc any({k, n}, memory::data_type::f32, memory::format_tag::any);
  const auto wanted =
      describe({kTypicalRows, inputs_, outputs_, false, false}, inputs_, outputs_, any).weights_desc();
  if (shelf.memory == nullptr) {
    packed_->matrix = memory(wanted, cpu_engine());
  } else {
    packed_->room = shelf.memory->room_for(shelf.name, wanted.get_size());
    packed_->matrix = memory(wanted, cpu_engine(), packed_->room.data.get());
  }
}

bool Fp32Ops::Weights::is_filled() const { return packed_->room.is_filled; }

void Fp32Ops::Weights::fill(MatrixView<const float> matrix) {
  assert(matrix.rows() == outputs_ && matrix.cols() == inputs_ && !is_filled());
  with_onednn([&] { pack(matrix); });
}

void Fp32Ops::Weights::pack(MatrixView<const float> matrix) {
  const auto n = static_cast<memory::dim>(outputs_), k = static_cast<memory::dim>(inputs_);
  // [outputs, inputs] row-major is [inputs, outputs] with the strides exchanged.
  const memory::desc given({k, n}, memory::data_type::f32,
                           memory::dims{1, static_cast<memory::dim>(matrix.stride())});
  memory source(given, cpu_engine(), const_cast<float*>(matrix.data()));
  dnnl::stream stream(cpu_engine());
  dnnl::reorder(source, packed_->matrix).execute(stream, source, packed_->matrix);
  stream.wait();
}

std::size_t Fp32Ops::Weights::bytes() const { return packed_ ? packed_->matrix.get_desc().get_size() : 0; }

void Fp32Ops::Weights::multiply(MatrixView<const float> a, std::span<const float> bias, bool accumulate,
                                MatrixView<float> out) const {
  assert(a.cols() == inputs_ && out.cols() == outputs_ && a.rows() == out.rows());
  assert(bias.empty() || bias.size() == outputs_);
  if (a.rows() != 0) with_onednn([&] { multiply_some(a, bias, accumulate, out); });
}

void Fp32Ops::Weights::multiply_some(MatrixView<const float> a, std::span<const float> bias, bool accumulate,
                                     MatrixView<float> out) const {
  const auto& product =
      packed_->product({a.rows(), a.stride(), out.stride(), !bias.empty(), accumulate}, inputs_, outputs_);
  std::unordered_map<int, memory> arguments = {
      {DNNL_ARG_SRC, argument(DNNL_ARG_SRC, a.rows(), inputs_, a.stride(), a.data())},
      {DNNL_ARG_WEIGHTS, packed_->matrix},
      {DNNL_ARG_DST, argument(DNNL_ARG_DST, out.rows(), outputs_, out.stride(), out.data())},
      {DNNL_ARG_SCRATCHPAD,
       memory(product.scratch, cpu_engine(), scratch_memory(product.scratch.get_size()))}};
  if (!bias.empty())
    arguments.emplace(DNNL_ARG_BIAS, argument(DNNL_ARG_BIAS, 1, outputs_, outputs_, bias.data()));
  thread_local dnnl::stream stream(cpu_engine());
  product.primitive.execute(stream, arguments);
  stream.wait();
}

}  // namespace dfrost
