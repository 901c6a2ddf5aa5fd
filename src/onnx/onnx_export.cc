#include "onnx/onnx_export.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "backbone/convit_weights.h"
#include "backbone/vit_weights.h"
#include "base/file.h"
#include "base/json.h"
#include "dfrost/error.h"
#include "onnx/onnx_graph.h"
#include "train/head.h"

namespace dfrost {
namespace {

std::int64_t size(std::size_t value) { return static_cast<std::int64_t>(value); }

std::vector<float> transposed(MatrixView<const float> m) {
  std::vector<float> result(m.rows() * m.cols());
  for (std::size_t r = 0; r < m.rows(); ++r) {
    for (std::size_t c = 0; c < m.cols(); ++c) result[c * m.rows() + r] = m(r, c);
  }
  return result;
}

// A plain transformer is one without gated blocks.
std::size_t gated_blocks_of(const VitWeights&) { return 0; }
std::size_t gated_blocks_of(const ConvitWeights& weights) { return weights.gated_blocks(); }
GateWeights gate_of(const VitWeights&, std::size_t) { return {}; }
GateWeights gate_of(const ConvitWeights& weights, std::size_t block) { return weights.read_gate(block); }

template <typename Weights>
class Writer {
 public:
  Writer(const StoredAdapter& adapter, const Weights& weights)
      : adapter_(adapter), weights_(weights), g_(weights.geometry()), gated_(gated_blocks_of(weights)) {}

  std::string write() {
    const auto side = size(g_.image_size);
    graph_.add_input("pixels", {-1, 3, side, side});
    add_shared_constants();
    std::string x = tokens();
    for (std::size_t i = 0; i < g_.depth; ++i) {
      x = block(x, i, weights_.read_block(i), fmt::format("block{}.", i));
      // Special tokens join behind the gated blocks, which know places only.
      if (i + 1 == gated_)
        x = graph_.add("Concat", {for_each_picture("special", weights_.read_stem().special_tokens), x},
                       {{"axis", {1}}});
    }
    head(norm(x, weights_.read_final_norm(), "norm"));
    graph_.add_output("logits", {-1, size(adapter_.card.adapter.head.classes)});
    return graph_.model(metadata());
  }

 private:
  void integers(const std::string& name, const std::vector<std::int64_t>& values) {
    graph_.constant(name, {size(values.size())}, std::span<const std::int64_t>(values));
  }
  void number(const std::string& name, float value) {
    graph_.constant(name, {}, std::span<const float>(&value, 1));
  }

  // In a Reshape 0 keeps the batch, and the tokens.
  void add_shared_constants() {
    const auto width = size(g_.width), heads = size(g_.heads);
    integers("shape.qkv", {0, 0, 3, heads, width / heads});
    integers("shape.tokens", {0, 0, width});
    integers("shape.patches", {0, width, size(g_.patches())});
    for (std::int64_t i = 0; i < 3; ++i)
      graph_.constant(fmt::format("index.{}", i), {}, std::span<const std::int64_t>(&i, 1));
    number("attention.scale", 1.0f / std::sqrt(static_cast<float>(g_.head_size())));
    number("gelu.scale", static_cast<float>(1 / std::numbers::sqrt2));
    number("one", 1.0f);
    number("half", 0.5f);
  }

  // The same tokens beside every picture's: [batch, tokens, width].
  std::string for_each_picture(const std::string& name, const std::vector<float>& tokens) {
    const auto width = size(g_.width), count = size(tokens.size()) / width;
    graph_.constant(name, {1, count, width}, tokens);
    integers("shape." + name, {count, width});
    const auto batch = graph_.add("Shape", {"pixels"}, {{"start", {0}}, {"end", {1}}});
    const auto shape = graph_.add("Concat", {batch, "shape." + name}, {{"axis", {0}}});
    return graph_.add("Expand", {name, shape});
  }

  // Special tokens unless they join later, prompts, patches: [batch, tokens, width].
  std::string tokens() {
    const auto stem = weights_.read_stem();
    const auto width = size(g_.width), patch = size(g_.patch_size);
    const auto weight = graph_.constant("patch.weight", {width, 3, patch, patch}, stem.patch.weight);
    const auto bias = graph_.constant("patch.bias", {width}, stem.patch.bias);
    auto x = graph_.add("Conv", {"pixels", weight, bias},
                        {{"kernel_shape", {patch, patch}, 0, true}, {"strides", {patch, patch}, 0, true}});
    x = graph_.add("Transpose", {graph_.add("Reshape", {x, "shape.patches"})},
                   {{"perm", {0, 2, 1}, 0, true}});
    x = graph_.add("Add",
                   {x, graph_.constant("positions", {1, size(g_.patches()), width}, stem.patch_positions)});
    std::vector<float> first;
    if (gated_ == 0) first = stem.special_tokens;
    const auto prompts = adapter_.state.prompts();
    first.insert(first.end(), prompts.data(), prompts.data() + prompts.rows() * prompts.cols());
    if (first.empty()) return x;
    return graph_.add("Concat", {for_each_picture("first", first), x}, {{"axis", {1}}});
  }

  std::string norm(const std::string& x, const NormWeights& w, const std::string& name) {
    const auto scale = graph_.constant(name + ".weight", {size(g_.width)}, w.scale);
    const auto shift = graph_.constant(name + ".bias", {size(g_.width)}, w.shift);
    return graph_.add("LayerNormalization", {x, scale, shift},
                      {{"axis", {-1}}, {"epsilon", {}, g_.layer_norm_epsilon}});
  }

  std::string linear(const std::string& x, const LinearWeights& w, const std::string& name) {
    const auto weight = graph_.constant(name + ".weight", {size(w.inputs), size(w.outputs)},
                                        transposed({w.weight.data(), w.outputs, w.inputs}));
    const auto bias = graph_.constant(name + ".bias", {size(w.outputs)}, w.bias);
    return graph_.add("Add", {graph_.add("MatMul", {x, weight}), bias});
  }

  // Patches attend by (1 - gate)·content + gate·place, prompts by content: one factor a row and one summand.
  std::string mix_in_places(const std::string& content, std::size_t index, const std::string& name) {
    const auto weights = gate_of(weights_, index);
    const auto gates = gates_of(weights);
    const auto scores = position_scores(weights, g_.image_size / g_.patch_size);
    const std::size_t prompts = adapter_.state.prompts().rows(), tokens = prompts + g_.patches();
    std::vector<float> shares(g_.heads * tokens, 1.0f), places(g_.heads * tokens * tokens);
    for (std::size_t h = 0; h < g_.heads; ++h) {
      for (std::size_t t = prompts; t < tokens; ++t) {
        shares[h * tokens + t] = 1.0f - gates[h];
        const auto row = scores.row(h * g_.patches() + t - prompts);
        for (std::size_t k = 0; k < row.size(); ++k)
          places[(h * tokens + t) * tokens + prompts + k] = gates[h] * row[k];
      }
    }
    const auto heads = size(g_.heads), count = size(tokens);
    const auto share = graph_.constant(name + "content_share", {1, heads, count, 1}, shares);
    const auto place = graph_.constant(name + "places", {1, heads, count, count}, places);
    return graph_.add("Add", {graph_.add("Mul", {content, share}), place});
  }

  std::string attention(const std::string& x, std::size_t index, const BlockWeights& w,
                        const std::string& name) {
    auto qkv = graph_.add("Reshape", {linear(x, w.qkv, name + "qkv"), "shape.qkv"});
    qkv = graph_.add("Transpose", {qkv}, {{"perm", {2, 0, 3, 1, 4}, 0, true}});
    const auto part = [&](int i) {
      return graph_.add("Gather", {qkv, fmt::format("index.{}", i)}, {{"axis", {0}}});
    };
    const auto query = graph_.add("Mul", {part(0), "attention.scale"});
    const auto keys = graph_.add("Transpose", {part(1)}, {{"perm", {0, 1, 3, 2}, 0, true}});
    auto shares = graph_.add("Softmax", {graph_.add("MatMul", {query, keys})}, {{"axis", {-1}}});
    if (index < gated_) shares = mix_in_places(shares, index, name);
    auto seen = graph_.add("MatMul", {shares, part(2)});
    seen = graph_.add("Transpose", {seen}, {{"perm", {0, 2, 1, 3}, 0, true}});
    return linear(graph_.add("Reshape", {seen, "shape.tokens"}), w.projection, name + "projection");
  }

  // x·(1 + erf(x/√2))/2.
  std::string gelu(const std::string& x) {
    const auto erf = graph_.add("Erf", {graph_.add("Mul", {x, "gelu.scale"})});
    return graph_.add("Mul", {graph_.add("Mul", {x, graph_.add("Add", {erf, "one"})}), "half"});
  }

  std::string block(const std::string& x, std::size_t index, const BlockWeights& w, const std::string& name) {
    const auto y = graph_.add("Add", {x, attention(norm(x, w.norm1, name + "norm1"), index, w, name)});
    const auto hidden = gelu(linear(norm(y, w.norm2, name + "norm2"), w.fc1, name + "fc1"));
    return graph_.add("Add", {y, linear(hidden, w.fc2, name + "fc2")});
  }

  std::string token(const std::string& x, std::size_t index) {
    return graph_.add("Gather", {x, fmt::format("index.{}", index)}, {{"axis", {1}}});
  }

  // The checkpoint's own logits, the mean over its heads.
  std::string own_logits(const std::string& features) {
    const auto heads = weights_.read_heads();
    std::string sum;
    for (std::size_t h = 0; h < heads.size(); ++h) {
      const auto logits = linear(token(features, h), heads[h], fmt::format("own_head{}", h));
      sum = h == 0 ? logits : graph_.add("Add", {sum, logits});
    }
    number("own_head.share", 1.0f / static_cast<float>(heads.size()));
    return graph_.add("Mul", {sum, "own_head.share"});
  }

  void head(const std::string& features) {
    const HeadOptions& options = adapter_.card.adapter.head;
    std::string x = options.kind == HeadKind::pfpt ? own_logits(features) : token(features, 0);
    const std::size_t layers = head_layers(options, g_).size();
    for (std::size_t i = 0; i < layers; ++i) {
      const auto weight = adapter_.state.part(head_weight_name(i));
      const auto bias = adapter_.state.part(head_bias_name(i)).row(0);
      graph_.constant(head_weight_name(i), {size(weight.rows()), size(weight.cols())},
                      std::span(weight.data(), weight.rows() * weight.cols()));
      graph_.constant(head_bias_name(i), {size(bias.size())}, bias);
      const bool last = i + 1 == layers;
      x = graph_.add("Gemm", {x, head_weight_name(i), head_bias_name(i)}, {{"transB", {1}}},
                     last ? "logits" : "");
      if (!last && options.kind == HeadKind::mlp) x = graph_.add("Relu", {x});
    }
  }

  std::map<std::string, std::string> metadata() const {
    const auto card = to_json(adapter_.card);
    nlohmann::ordered_json classes = nlohmann::ordered_json::array();
    for (const auto& domain : adapter_.card.domains) {
      for (const auto& name : domain.class_names) classes.push_back(name);
    }
    return {{"card", dump_json(card)},
            {"preprocessing", dump_json(card.at("preprocessing"))},
            {"classes", dump_json(classes)}};
  }

  const StoredAdapter& adapter_;
  const Weights& weights_;
  Geometry g_;
  std::size_t gated_ = 0;
  OnnxGraph graph_;
};

}  // namespace

void write_onnx(const std::filesystem::path& path, const StoredAdapter& adapter,
                const Checkpoint& checkpoint) {
  if (adapter.card.adapter.prompts.selects())
    throw Error(ErrorCode::unimplemented, "an adapter that chooses its prompts from a pool is not exported",
                "use it with dfrost itself, or with dfrost.torch.attach()");
  const auto& source = checkpoint.weights();
  if (const auto* vit = dynamic_cast<const VitWeights*>(&source)) {
    write_file_atomically(path, Writer(adapter, *vit).write());
  } else if (const auto* convit = dynamic_cast<const ConvitWeights*>(&source)) {
    write_file_atomically(path, Writer(adapter, *convit).write());
  } else {
    throw Error(
        ErrorCode::unimplemented,
        fmt::format("models of the architecture '{}' are not exported", checkpoint.geometry().architecture),
        "only vision transformers (ViT, DeiT) and ConViT are");
  }
}

}  // namespace dfrost
