#include "study/shipped_studies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/quote.h"
#include "base/share_folder.h"
#include "base/suggest.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> study_roots() { return shipped_folders("studies"); }

}  // namespace

std::vector<std::string> shipped_studies(const std::string& below) {
  std::vector<std::string> names;
  for (const auto& root : study_roots()) {
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(root / below, absent)) {
      if (entry.path().extension() != ".toml") continue;
      const auto stem = entry.path().stem().string();
      names.push_back(below.empty() ? stem : fmt::format("{}/{}", below, stem));
    }
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());  // ranges::unique is beyond clang 14
  return names;
}

fs::path find_study(const std::string& file_or_name) {
  std::error_code unknown;
  if (fs::is_regular_file(file_or_name, unknown)) return file_or_name;
  const bool may_be_name = file_or_name.find('.') == std::string::npos && !file_or_name.starts_with('/');
  for (const auto& root : study_roots()) {
    const fs::path file = root / (file_or_name + ".toml");
    if (may_be_name && fs::is_regular_file(file, unknown)) return file;
  }
  auto known = shipped_studies();
  for (auto& name : shipped_studies("paper")) known.push_back(std::move(name));
  throw Error(ErrorCode::not_found,
              fmt::format("there is no study {}, nor a file of that name", quote_name(file_or_name)),
              did_you_mean(file_or_name, known,
                           known.empty() ? std::string("give a study's TOML file")
                                         : fmt::format("give a study's TOML file, or one of {}",
                                                       fmt::join(known, ", "))));
}

}  // namespace dfrost
