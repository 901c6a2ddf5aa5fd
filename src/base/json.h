// JSON files that other programs wrote (configs, indexes), parsed with bounded nesting and without duplicate
// keys; every failure is an Error (data_loss) that says where. For our own documents use nlohmann::json
// directly.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dfrost {

// `place` is the file's name, for the error.
nlohmann::json parse_json(std::string_view text, const std::string& place);
nlohmann::json read_json_file(const std::filesystem::path& path, std::size_t limit_bytes = 16u << 20);

}  // namespace dfrost
