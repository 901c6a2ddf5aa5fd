#include "backbone/checkpoint_config.h"

#include <gtest/gtest.h>

#include "backbone/checkpoint.h"
#include "backbone/small_checkpoint.h"
#include "base/file.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::SmallCheckpoint;

// The config of a folder with these two files; an empty text is no file.
CheckpointConfig config_of(const std::string& config, const std::string& preprocessor = "") {
  const test::TemporaryFolder folder;
  if (!config.empty()) write_file_atomically(folder / "config.json", config);
  if (!preprocessor.empty()) write_file_atomically(folder / "preprocessor_config.json", preprocessor);
  return read_checkpoint_config(folder.path());
}

TEST(CheckpointConfig, IsEmptyWithoutFiles) {
  const auto config = config_of("");
  EXPECT_FALSE(config.heads || config.preprocessing || config.layer_norm_epsilon);
}

TEST(CheckpointConfig, ReadsHuggingFacesKeys) {
  const auto config =
      config_of(R"({"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "image_size": 224,
      "intermediate_size": 3072, "patch_size": 16, "layer_norm_eps": 1e-12, "hidden_act": "gelu", "model_type": "vit",
      "id2label": {"0": "tench", "1": "goldfish", "2": "shark", "10": "x", "3": "a", "4": "b", "5": "c", "6": "d", "7": "e",
      "8": "f", "9": "g"}})");
  EXPECT_EQ(config.width, 768u);
  EXPECT_EQ(config.depth, 12u);
  EXPECT_EQ(config.heads, 12u);
  EXPECT_EQ(config.mlp_width, 3072u);
  EXPECT_EQ(config.layer_norm_epsilon, 1e-12f);
  ASSERT_EQ(config.class_names.size(), 11u);
  EXPECT_EQ(config.class_names[10], "x");
}

TEST(CheckpointConfig, ReadsGoogleVitsPreprocessor) {
  const auto how = *config_of("", R"({"do_normalize": true, "do_resize": true, "image_mean": [0.5, 0.5, 0.5],
      "image_std": [0.5, 0.5, 0.5], "resample": 2, "size": 224})")
                        .preprocessing;
  EXPECT_TRUE(how.stretch);
  EXPECT_EQ(how.resize, 224u);
  EXPECT_EQ(how.crop, 224u);
  EXPECT_EQ(how.filter, ResizeFilter::bilinear);
  EXPECT_EQ(how.mean[1], 0.5f);
}

TEST(CheckpointConfig, ReadsDeitsPreprocessorInOldAndNewForm) {
  for (const auto* sizes :
       {R"("size": 256, "crop_size": 224)",
        R"("size": {"height": 256, "width": 256}, "crop_size": {"height": 224, "width": 224})"}) {
    const auto how =
        *config_of("",
                   std::string(R"({"do_center_crop": true, "resample": 3, "image_mean": [0.485, 0.456, 0.406],
        "image_std": [0.229, 0.224, 0.225], "rescale_factor": 0.00392156862745098, )") +
                       sizes + "}")
             .preprocessing;
    EXPECT_EQ(how.resize, 256u);
    EXPECT_EQ(how.crop, 224u);
    EXPECT_TRUE(how.stretch);
    EXPECT_EQ(how.filter, ResizeFilter::bicubic);
    EXPECT_EQ(how.std[2], 0.225f);
  }
  EXPECT_FALSE(config_of("", R"({"size": {"shortest_edge": 256}})").preprocessing->stretch);
}

TEST(CheckpointConfig, ReadsTimmsKeys) {
  const auto config =
      config_of(R"({"architecture": "vit_small", "num_features": 384, "model_args": {"num_heads": 6},
      "label_names": ["a", "b"], "pretrained_cfg": {"input_size": [3, 384, 384], "crop_pct": 0.95, "interpolation": "bicubic",
      "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5], "crop_mode": "squash"}})");
  EXPECT_EQ(config.width, 384u);
  EXPECT_EQ(config.heads, 6u);
  EXPECT_EQ(config.class_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(config.preprocessing->crop, 384u);
  EXPECT_EQ(config.preprocessing->resize, 404u);  // floor(384 / 0.95)
  EXPECT_TRUE(config.preprocessing->stretch);
  EXPECT_EQ(config.preprocessing->filter, ResizeFilter::bicubic);
}

TEST(CheckpointConfig, IsTimmsAlsoWithoutAPretrainedCfg) {
  const auto config = config_of(R"({"architecture": "vit_mine", "model_args": {"num_heads": 16}})");
  EXPECT_EQ(config.heads, 16u);
  EXPECT_FALSE(config.preprocessing);
  EXPECT_EQ(config_of(R"({"model_args": {"num_heads": 5}})").heads, 5u);
  const auto flat = config_of(R"({"architecture": "vit_mine", "mean": [0.1, 0.2, 0.3]})");
  EXPECT_EQ(flat.preprocessing->mean[2], 0.3f);
  EXPECT_EQ(flat.preprocessing->filter, ResizeFilter::bicubic);  // timm's default
}

TEST(CheckpointConfig, OfTimmMayNameNoChoiceThatLeavesNoTraceInTheTensors) {
  const auto refused = [](const std::string& json, const std::string& text) {
    test::expect_error(ErrorCode::unimplemented, text, [&] { config_of(json); });
  };
  refused(R"({"model_args": {"act_layer": "quick_gelu"}})", "'act_layer' is 'quick_gelu', expected 'gelu'");
  refused(R"({"model_args": {"norm_layer": "rmsnorm"}})", "'norm_layer' is 'rmsnorm'");
  refused(R"({"model_args": {"global_pool": "avg"}})", "'global_pool' is 'avg', expected 'token'");
  refused(R"({"architecture": "vit_mine", "global_pool": "map"})", "'global_pool' is 'map'");
  EXPECT_EQ(config_of(R"({"architecture": "vit_mine", "global_pool": "token",
      "model_args": {"act_layer": "gelu", "norm_layer": null, "num_heads": 2}})")
                .heads,
            2u);
}

TEST(CheckpointConfig, RefusesWhatItCannotFollow) {
  const auto config = [](const std::string& json, const std::string& text,
                         ErrorCode code = ErrorCode::unimplemented) {
    test::expect_error(code, text, [&] { config_of(json); });
  };
  const auto preprocessor = [](const std::string& json, const std::string& text,
                               ErrorCode code = ErrorCode::unimplemented) {
    test::expect_error(code, text, [&] { config_of("", json); });
  };
  config(R"({"hidden_act": "quick_gelu"})", "'hidden_act' is 'quick_gelu'");
  config(R"({"hidden_act": 1})", "hidden_act", ErrorCode::data_loss);
  config(R"({"num_attention_heads": "twelve"})", "num_attention_heads", ErrorCode::data_loss);
  config(R"({"num_attention_heads": 0})", "num_attention_heads", ErrorCode::data_loss);
  config(R"({"num_attention_heads": -1})", "num_attention_heads", ErrorCode::data_loss);
  config(R"({"layer_norm_eps": -1})", "layer_norm_eps", ErrorCode::data_loss);
  config(R"({"id2label": {"1": "a"}})", "class 0 has no name", ErrorCode::data_loss);
  config(R"([])", "config.json", ErrorCode::data_loss);
  config(R"({"pretrained_cfg": {"interpolation": "lanczos"}})", "'lanczos'");
  config(R"({"pretrained_cfg": {"crop_pct": 0}})", "crop_pct");
  config(R"({"pretrained_cfg": {"crop_mode": "border"}})", "crop_mode");
  config(R"({"pretrained_cfg": {"input_size": [3, 224, 256]}})", "input_size", ErrorCode::data_loss);
  config(R"({"pretrained_cfg": {"std": [0, 1, 1]}})", "std", ErrorCode::data_loss);
  config(R"({"pretrained_cfg": 1})", "pretrained_cfg", ErrorCode::data_loss);
  config(R"({"model_args": [12]})", "model_args", ErrorCode::data_loss);
  preprocessor(R"({"size": 224, "resample": 1})", "resample");
  preprocessor(R"({"size": 224, "rescale_factor": 0.5})", "rescale_factor");
  preprocessor(R"({"size": 224, "do_resize": false})", "do_resize");
  preprocessor(R"({"size": {"height": 224, "width": 200}})", "a square");
  preprocessor(R"({"size": 224, "do_center_crop": true, "crop_size": 256})", "crop_size");
  preprocessor(R"({"size": 224, "image_mean": [1, 2]})", "image_mean", ErrorCode::data_loss);
  preprocessor(R"({})", "size", ErrorCode::data_loss);
}

// What the small checkpoint, stored under a name, is prepared with.
std::unique_ptr<Checkpoint> open_small(const test::TemporaryFolder& folder,
                                       const std::string& name = "model.safetensors",
                                       const CheckpointOptions& options = {}) {
  SmallCheckpoint().write(folder / name);
  return open_checkpoint(folder / name, options);
}

TEST(CheckpointPreprocessing, OfALoneTimmFileGoesByItsName) {
  const test::TemporaryFolder folder;
  const auto unknown = open_small(folder, "vit_small.safetensors");
  EXPECT_EQ(unknown->preprocessing_origin(), "augreg, a guess");
  const auto augreg = open_small(folder, "vit_small_augreg.safetensors");
  EXPECT_EQ(augreg->preprocessing_origin(), "augreg, by default");
  EXPECT_EQ(augreg->preprocessing().mean[0], 0.5f);
  EXPECT_EQ(augreg->preprocessing().resize, 13u);  // floor(12 / 0.9)
  const auto deit = open_small(folder, "DeiT_small.safetensors");
  EXPECT_EQ(deit->preprocessing_origin(), "deit, by default");
  EXPECT_EQ(deit->preprocessing().mean[0], 0.485f);
  const auto asked = open_small(folder, "vit_small.safetensors", {.preprocessing = "google"});
  EXPECT_EQ(asked->preprocessing_origin(), "google, as asked");
  EXPECT_TRUE(asked->preprocessing().stretch);
  test::expect_error(ErrorCode::invalid_argument, "did you mean 'torchvision'",
                     [&] { open_small(folder, "vit_small.safetensors", {.preprocessing = "torchvison"}); });
}

TEST(CheckpointPreprocessing, IsDoubtedWhereNothingSaysIt) {
  const test::TemporaryFolder folder;
  const auto doubt = [&](const std::string& name, const CheckpointOptions& options = {}) {
    return doubt_about_pictures(*open_small(folder, name, options));
  };
  ASSERT_TRUE(doubt("model.safetensors"));
  EXPECT_NE(doubt("model.safetensors")->hint.find("--preprocessing"), std::string::npos);
  EXPECT_FALSE(doubt("deit_tiny.safetensors"));
  EXPECT_FALSE(doubt("ti16.augreg.safetensors"));
  EXPECT_FALSE(doubt("model.safetensors", {.preprocessing = "deit"}));
  write_file_atomically(folder / "preprocessor_config.json", R"({"size": 12})");
  EXPECT_FALSE(doubt("model.safetensors"));
}

TEST(CheckpointPreprocessing, ComesFromTheFileBesideAndMustFitTheWeights) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "preprocessor_config.json", R"({"size": 12, "resample": 3})");
  const auto checkpoint = open_small(folder);
  EXPECT_EQ(checkpoint->preprocessing_origin(), "preprocessor_config.json");
  EXPECT_EQ(checkpoint->preprocessing().filter, ResizeFilter::bicubic);
  write_file_atomically(folder / "preprocessor_config.json", R"({"size": 16})");
  test::expect_error(ErrorCode::data_loss, "16 pixels, but the position embeddings are for 12",
                     [&] { open_small(folder); });
  EXPECT_EQ(open_small(folder, "model.safetensors", {.image_size = 16})->preprocessing().crop, 16u);
}

TEST(CheckpointConfig, MustFitTheWeights) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "config.json",
                        R"({"hidden_size": 64, "num_attention_heads": 4, "layer_norm_eps": 1e-5,
      "id2label": {"0": "a", "1": "b", "2": "c", "3": "d", "4": "e"}})");
  const auto checkpoint = open_small(folder);
  EXPECT_EQ(checkpoint->geometry().heads, 4u);
  EXPECT_EQ(checkpoint->geometry().layer_norm_epsilon, 1e-5f);
  EXPECT_EQ(checkpoint->class_names().size(), 5u);
  for (const auto* key :
       {"hidden_size", "num_hidden_layers", "intermediate_size", "patch_size", "image_size"}) {
    write_file_atomically(folder / "config.json", "{\"" + std::string(key) + "\": 768}");
    test::expect_error(ErrorCode::data_loss, key, [&] { open_small(folder); });
  }
  write_file_atomically(folder / "config.json", R"({"id2label": {"0": "LABEL_0", "1": "LABEL_1"}})");
  EXPECT_TRUE(open_small(folder)->class_names().empty());  // names of other classes than these
}

}  // namespace
}  // namespace dfrost
