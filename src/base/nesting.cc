#include "base/nesting.h"

#include <algorithm>
#include <vector>

namespace dfrost {
namespace {

// Goes through a text once and knows how many brackets are open.
class NestingCounter {
 public:
  NestingCounter(std::string_view text, NestedText kind) : text_(text), toml_(kind == NestedText::toml) {}

  // Where the limit is passed; the text's length where it is not.
  std::size_t passed_at() {
    while (at_ < text_.size() && depth_ + dots_ <= kDeepestNesting) step();
    return depth_ + dots_ > kDeepestNesting ? at_ - 1 : text_.size();
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '"' || (toml_ && c == '\'')) return skip_text(c);
    if (toml_ && c == '#') return skip_comment();
    ++at_;
    if (c == '[' || c == '{') {
      outer_dots_.push_back(dots_);
      depth_ += 1 + dots_;
      dots_ = 0;
    } else if ((c == ']' || c == '}') && !outer_dots_.empty()) {
      dots_ = outer_dots_.back();
      outer_dots_.pop_back();
      depth_ -= 1 + dots_;
    } else if (c == ',' || (toml_ && c == '\n')) {
      dots_ = 0;  // another key, or none
    } else if (toml_ && c == '.') {
      ++dots_;
    }
  }

  // To the end of a text that opens here; texts of TOML may be opened by three quotes.
  void skip_text(char quote) {
    const std::string_view three = quote == '"' ? "\"\"\"" : "'''";
    const bool long_text = toml_ && text_.substr(at_).starts_with(three);
    at_ += long_text ? three.size() : 1;
    while (at_ < text_.size()) {
      if (text_[at_] == '\\' && quote == '"') {
        at_ += 2;
      } else if (long_text ? text_.substr(at_).starts_with(three) : text_[at_] == quote) {
        at_ += long_text ? three.size() : 1;
        return;
      } else if (toml_ && !long_text && text_[at_] == '\n') {
        return;  // never closed: the parser says so
      } else {
        ++at_;
      }
    }
  }

  void skip_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  std::string_view text_;
  bool toml_;
  std::size_t at_ = 0;
  std::vector<int> outer_dots_;  // of the keys whose brackets are open
  int dots_ = 0;                 // of the key under way
  int depth_ = 0;                // of the brackets that are open, with the dots before them
};

}  // namespace

std::optional<std::size_t> line_nested_too_deep(std::string_view text, NestedText kind) {
  const std::size_t at = NestingCounter(text, kind).passed_at();
  if (at >= text.size()) return std::nullopt;
  return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n'));
}

}  // namespace dfrost
