#include "base/safetensors_header.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/malformed.h"
#include "base/quote.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr std::size_t kMostDimensions = 16;

// Follows the header through the five places it can be in. Anything that the place does not allow throws, so
// nesting cannot go deeper than tensor → array.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  SafetensorsHeader take() { return std::move(header_); }

  bool key(string_t& name) override {
    switch (level_) {
      case Level::header: open_entry(name); break;
      case Level::metadata:
        if (header_.metadata.contains(name))
          malformed(fmt::format("metadata key {} appears twice", quote_name(name)));
        metadata_value_ = &header_.metadata[name];
        break;
      default: open_field(name);
    }
    return true;
  }

  bool start_object(std::size_t) override {
    switch (level_) {
      case Level::outside: level_ = Level::header; break;
      case Level::header: level_ = name_ == "__metadata__" ? Level::metadata : Level::tensor; break;
      default: unexpected("an object");
    }
    return true;
  }

  bool end_object() override {
    if (level_ == Level::tensor) check_complete();
    level_ = level_ == Level::header ? Level::outside : Level::header;
    return true;
  }

  bool start_array(std::size_t) override {
    if (level_ != Level::tensor || field_ == Field::dtype) unexpected("an array");
    level_ = Level::array;
    (field_ == Field::shape ? entry_->shape : entry_->offsets).emplace().reserve(2);  // nearly always
    return true;
  }

  bool end_array() override {
    if (field_ == Field::offsets && entry_->offsets->size() != 2) {
      malformed(fmt::format("tensor {}: data_offsets has {} numbers, expected 2 (begin and end)",
                            quote_name(name_), entry_->offsets->size()));
    }
    level_ = Level::tensor;
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (level_ != Level::array) unexpected("a number");
    auto& numbers = field_ == Field::shape ? *entry_->shape : *entry_->offsets;
    if (numbers.size() == kMostDimensions) {
      malformed(fmt::format("tensor {}: more than {} numbers in a list", quote_name(name_), kMostDimensions));
    }
    numbers.push_back(value);
    return true;
  }

  bool string(string_t& value) override {
    if (level_ == Level::metadata) {
      *metadata_value_ = value;
    } else if (level_ == Level::tensor && field_ == Field::dtype) {
      entry_->type = tensor_type_named(value);
      if (!entry_->type) {
        throw Error(ErrorCode::unimplemented,
                    fmt::format("tensor {}: unknown dtype {}, expected F32, F16 or BF16", quote_name(name_),
                                quote_name(value)));
      }
    } else {
      unexpected("a text");
    }
    return true;
  }

  // Sizes and offsets are whole and not negative; what does not fit in 64 bits arrives here as a float.
  bool number_integer(number_integer_t value) override { unexpected(fmt::format("{}", value)); }
  bool number_float(number_float_t, const string_t& text) override { unexpected(quote_name(text)); }
  bool null() override { unexpected("null"); }
  bool boolean(bool value) override { unexpected(value ? "true" : "false"); }
  bool binary(binary_t&) override { unexpected("binary data"); }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    malformed(fmt::format("the header is not valid JSON at its byte {}", position));
  }

 private:
  enum class Level { outside, header, metadata, tensor, array };
  enum class Field { none, dtype, shape, offsets };

  void open_entry(const std::string& name) {
    name_ = name;
    if (name == "__metadata__") {
      if (has_metadata_) malformed("__metadata__ appears twice in the header");
      has_metadata_ = true;
      return;
    }
    const auto [entry, is_new] = header_.entries.try_emplace(name);
    if (!is_new) malformed(fmt::format("tensor {} appears twice in the header", quote_name(name)));
    entry_ = &entry->second;
    field_ = Field::none;
  }

  void open_field(const std::string& name) {
    bool twice = false;
    if (name == "dtype") {
      field_ = Field::dtype;
      twice = entry_->type.has_value();
    } else if (name == "shape") {
      field_ = Field::shape;
      twice = entry_->shape.has_value();
    } else if (name == "data_offsets") {
      field_ = Field::offsets;
      twice = entry_->offsets.has_value();
    } else {
      malformed(fmt::format("tensor {}: unknown key {}, expected dtype, shape and data_offsets",
                            quote_name(name_), quote_name(name)));
    }
    if (twice) malformed(fmt::format("tensor {}: {} appears twice", quote_name(name_), name));
  }

  void check_complete() const {
    const auto require = [this](bool present, std::string_view what) {
      if (!present) malformed(fmt::format("tensor {}: {} is missing", quote_name(name_), what));
    };
    require(entry_->type.has_value(), "dtype");
    require(entry_->shape.has_value(), "shape");
    require(entry_->offsets.has_value(), "data_offsets");
  }

  [[noreturn]] void unexpected(std::string_view found) const {
    switch (level_) {
      case Level::outside: malformed(fmt::format("the header is {}, expected a JSON object", found));
      case Level::header:
        malformed(fmt::format("tensor {}: {}, expected an object", quote_name(name_), found));
      case Level::metadata: malformed(fmt::format("__metadata__ holds {}, expected only texts", found));
      case Level::array:
        malformed(fmt::format("tensor {}: {} in a list of sizes or offsets", quote_name(name_), found));
      case Level::tensor: break;
    }
    malformed(fmt::format("tensor {}: {} where {} was expected", quote_name(name_), found,
                          field_ == Field::dtype ? "the name of a dtype" : "a list of whole numbers"));
  }

  SafetensorsHeader header_;
  Level level_ = Level::outside;
  Field field_ = Field::none;
  bool has_metadata_ = false;
  std::string name_;                       // of the entry under way
  SafetensorsEntry* entry_ = nullptr;      // the tensor under way
  std::string* metadata_value_ = nullptr;  // where the next text goes
};

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view json) {
  // The library would take a byte order mark before the object, and a zero byte for the end of the text.
  if (!json.starts_with('{')) malformed("the header does not begin with '{'");
  if (const auto zero = json.find('\0'); zero != std::string_view::npos) {
    malformed(fmt::format("the header has a zero byte at {}", zero));
  }
  HeaderReader reader;
  nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  return reader.take();
}

}  // namespace dfrost
