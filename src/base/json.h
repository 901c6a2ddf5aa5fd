// The only place that parses JSON, so that none nests deeper than base/nesting.h allows. Files that other
// programs wrote (configs, indexes) have no duplicate keys either, and every failure is an Error (data_loss)
// that says where. And our own documents, written so that no name that stands in them can make that fail.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dfrost {

// Whether JSON can hold the text as it is: names of files and folders may be any bytes.
bool is_utf8(std::string_view text);

// The document on one line, or indented. What is not UTF-8 in it is replaced by U+FFFD.
std::string dump_json(const nlohmann::ordered_json& document, int indent = -1);

// `place` is the file's name, for the error.
nlohmann::json parse_json(std::string_view text, const std::string& place);
// What we wrote ourselves, if nobody has damaged it since: a value that is_discarded() where it is no JSON or
// nests too deep. Keys keep their order.
nlohmann::ordered_json parse_own_json(std::string_view text);

nlohmann::json read_json_file(const std::filesystem::path& path, std::size_t limit_bytes = 16u << 20);

}  // namespace dfrost
