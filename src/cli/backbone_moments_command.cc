// `dfrost backbone moments`: mean and covariance of a backbone's features over generic pictures, for heads
// that are trained in coordinates that come with the backbone (train.head_moments = "backbone").
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "backbone/checkpoint.h"
#include "backbone/moments_file.h"
#include "backbone/weights_fingerprint.h"
#include "base/thread_pool.h"
#include "cli/checkpoint_options.h"
#include "cli/command.h"
#include "cli/picture_arguments.h"
#include "cli/terminal.h"
#include "data/image_file.h"
#include "data/picture_files.h"
#include "data/preprocess.h"
#include "dfrost/backbone.h"
#include "dfrost/error.h"
#include "run/backbone_frame.h"

namespace dfrost::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kAtOnce = 32;  // pictures in memory; part of the result's last bits

struct MomentsArguments {
  std::string checkpoint, output, exif = "apply";
  std::vector<std::string> pictures;
  CheckpointOptions options;
  std::size_t threads = 0;
  bool json = false;
};

// The pictures in it and below, in byte order of their paths.
std::vector<std::string> pictures_below(const fs::path& folder) {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && looks_like_picture(entry.path())) found.push_back(entry.path().string());
  std::ranges::sort(found);
  if (found.empty())
    throw Error(ErrorCode::not_found, "there is no picture in it or below",
                "PNG, JPEG, WebP and GIF are read")
        .at(folder.string());
  return found;
}

std::vector<std::string> all_pictures(const std::vector<std::string>& named) {
  std::vector<std::string> all;
  for (const auto& path : named) {
    if (!fs::exists(path)) throw Error(ErrorCode::not_found, "there is no such file or folder").at(path);
    if (!fs::is_directory(path)) {
      all.push_back(path);
      continue;
    }
    const auto below = pictures_below(path);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

// Pictures to pixels, side by side; those that cannot be read are told and left out.
struct Prepared {
  std::vector<float> pixels;
  std::size_t unreadable = 0;
};

Prepared prepare(std::span<const std::string> paths, const Preprocessing& how, const Geometry& g,
                 ExifOrientation exif, ThreadPool& threads) {
  const std::size_t size = g.patches() * g.patch_values();
  std::vector<float> all(paths.size() * size);
  std::vector<std::optional<Error>> errors(paths.size());
  threads.parallel_for(paths.size(), [&](std::size_t i, std::size_t) {
    try {
      preprocess_to_patches(read_image(paths[i], exif).view(), how, g.patch_size,
                            std::span(all).subspan(i * size, size));
    } catch (const Error& error) {
      errors[i] = error;
    }
  });
  Prepared prepared;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (errors[i]) {
      if (exit_code(*errors[i]) != 3) throw *errors[i];  // not about the file
      print_error(*errors[i]);
      ++prepared.unreadable;
      continue;
    }
    const auto own = std::span(all).subspan(i * size, size);
    prepared.pixels.insert(prepared.pixels.end(), own.begin(), own.end());
  }
  return prepared;
}

void take_moments(const MomentsArguments& arguments) {
  const auto exif = parse_exif(arguments.exif);
  const auto checkpoint = open_named_checkpoint(arguments.checkpoint, arguments.options);
  tell_doubt_about_pictures(*checkpoint);
  const auto paths = all_pictures(arguments.pictures);
  // The same bytes on every machine of its kind, whatever it computes fastest with.
  const auto backbone = make_backbone(*checkpoint, {.precision = Precision::fp32, .training = false});
  const Geometry& g = backbone->geometry();
  ThreadPool threads(arguments.threads);
  FeatureSums sums(*backbone);
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  std::size_t unreadable = 0;
  for (std::size_t first = 0; first < paths.size(); first += kAtOnce) {
    const auto some = std::span(paths).subspan(first, std::min(kAtOnce, paths.size() - first));
    const auto prepared = prepare(some, checkpoint->preprocessing(), g, exif, threads);
    unreadable += prepared.unreadable;
    const std::size_t rows = prepared.pixels.size() / g.patch_values();
    if (rows > 0) sums.add({prepared.pixels.data(), rows, g.patch_values()}, threads);
    if (terminal) draw_over(fmt::format("{} of {} pictures", first + some.size(), paths.size()));
  }
  if (terminal) draw_over("");
  const auto moments = sums.moments();
  const auto origin = moments_origin(*checkpoint, weights_fingerprint(*checkpoint));
  write_moments(arguments.output, moments, origin);
  if (moments.count < 4 * static_cast<float>(g.width))
    tell_warning(fmt::format("{:.0f} pictures for {} features: most of their covariance is chance",
                             moments.count, g.width),
                 "take some thousand");
  if (arguments.json)
    print_json({{"out", arguments.output},
                {"backbone", origin.weights},
                {"image_size", origin.image_size},
                {"features", g.width},
                {"pictures", static_cast<std::size_t>(moments.count)},
                {"unreadable", unreadable},
                {"fingerprint", moments_fingerprint(moments)}});
  else
    fmt::print("wrote {}: mean and covariance of {} features over {:.0f} pictures of {} pixels\n",
               arguments.output, g.width, moments.count, origin.image_size);
  require_all_read(unreadable, paths.size());
}

}  // namespace

void add_backbone_moments_command(CLI::App& backbone) {
  auto* command = add_command(
      backbone, "moments", "Take mean and covariance of a backbone's features over pictures of any kind.",
      {"dfrost backbone moments frost-mini pictures/ --image-size 32 --out moments-32.safetensors",
       "  beside the weights, it is what train.head_moments = \"backbone\" reads; no picture can be seen in "
       "it"});
  auto arguments = std::make_shared<MomentsArguments>();
  command->add_option("backbone", arguments->checkpoint, "The checkpoint: a file, a folder or a name")
      ->required();
  command->add_option("pictures", arguments->pictures, "PNG, JPEG, WebP or GIF files, and folders of them")
      ->required();
  command->add_option("--out", arguments->output, "safetensors to write: moments-SIZE.safetensors")
      ->required();
  command->add_option("--threads", arguments->threads, "Threads to compute with; 0: all")
      ->capture_default_str();
  add_checkpoint_options(*command, arguments->options);
  add_exif_option(*command, arguments->exif);
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { take_moments(*arguments); });
}

}  // namespace dfrost::cli
