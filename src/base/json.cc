#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "base/file.h"
#include "base/nesting.h"
#include "base/quote.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

// The keys of the objects that are open, innermost last.
class StructureCheck {
 public:
  bool operator()(int, nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start) open_.emplace_back();
    if (event == Event::object_end) open_.pop_back();
    if (event == Event::key && !open_.back().insert(parsed.get_ref<const std::string&>()).second) {
      throw Error(ErrorCode::data_loss,
                  fmt::format("key {} appears twice", quote_name(parsed.get_ref<const std::string&>())));
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> open_;
};

}  // namespace

bool is_utf8(std::string_view text) {
  try {
    static_cast<void>(nlohmann::json(text).dump());
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

std::string dump_json(const nlohmann::ordered_json& document, int indent) {
  return document.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

nlohmann::json parse_json(std::string_view text, const std::string& place) {
  if (const auto line = line_nested_too_deep(text, NestedText::json)) {
    throw Error(ErrorCode::data_loss, fmt::format("JSON nested deeper than {}", kDeepestNesting))
        .at(fmt::format("{}, line {}", place, *line));
  }
  StructureCheck check;
  try {
    return nlohmann::json::parse(text.begin(), text.end(), std::ref(check));
  } catch (const nlohmann::json::parse_error& error) {
    const auto before = text.substr(0, std::min(text.size(), error.byte));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    throw Error(ErrorCode::data_loss, "not valid JSON").at(fmt::format("{}, line {}", place, line));
  } catch (const nlohmann::json::out_of_range&) {
    throw Error(ErrorCode::data_loss, "has a number too large for a double").at(place);
  } catch (Error& error) {
    error.at(place);
    throw;
  }
}

nlohmann::ordered_json parse_own_json(std::string_view text) {
  using Json = nlohmann::ordered_json;
  if (line_nested_too_deep(text, NestedText::json)) return Json(Json::value_t::discarded);
  return Json::parse(text.begin(), text.end(), nullptr, false);
}

nlohmann::json read_json_file(const std::filesystem::path& path, std::size_t limit_bytes) {
  return parse_json(read_text_file(path, limit_bytes), path.string());
}

}  // namespace dfrost
