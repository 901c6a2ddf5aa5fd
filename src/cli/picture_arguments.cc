#include "cli/picture_arguments.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/command.h"
#include "dfrost/error.h"

namespace dfrost::cli {
namespace {

void refuse_folder(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return;
  throw Error(ErrorCode::data_loss, fmt::format("{} is a folder, not a picture", path),
              fmt::format("name its files: {}", (std::filesystem::path(path) / "*.jpg").string()))
      .at(path);
}

bool is_about_a_file(const std::exception& error) { return exit_code(error) == 3; }

}  // namespace

std::size_t look_at_pictures(std::span<const std::string> paths, nlohmann::ordered_json& list,
                             const std::function<void(const std::string& path)>& look) {
  std::size_t unreadable = 0;
  for (const auto& path : paths) {
    try {
      refuse_folder(path);
      look(path);
    } catch (const std::exception& error) {
      if (paths.size() == 1 || !is_about_a_file(error)) throw;
      print_error(error);
      list.push_back({{"image", path}, {"error", error.what()}});
      ++unreadable;
    }
  }
  return unreadable;
}

void add_exif_option(CLI::App& command, std::string& exif) {
  command
      .add_option(
          "--exif", exif,
          "apply: turn pictures upright as their cameras noted; ignore: leave them as they are stored")
      ->default_str("apply");
}

ExifOrientation parse_exif(const std::string& word) {
  for (const auto exif : {ExifOrientation::apply, ExifOrientation::ignore}) {
    if (word == to_string(exif)) return exif;
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("'{}' is not apply or ignore", word)).at("--exif");
}

void require_all_read(std::size_t unreadable, std::size_t pictures) {
  if (unreadable == 0) return;
  throw Error(ErrorCode::data_loss, fmt::format("{} of {} pictures could not be read", unreadable, pictures));
}

}  // namespace dfrost::cli
