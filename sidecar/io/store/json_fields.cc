// The library throws where a type is not the expected one, so it is asked first.
#include "io/store/json_fields.hh"

#include "base/ascii.hh"

namespace bellwether::io {

const Json* member(const Json& json, std::string_view key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(std::string(key));
  return found == json.end() ? nullptr : &*found;
}

const Json* member(const Json& json, std::initializer_list<std::string_view> keys) {
  const Json* inner = &json;
  for (const std::string_view key : keys) {
    inner = member(*inner, key);
    if (inner == nullptr) return nullptr;
  }
  return inner;
}

std::string json_text(const Json* json) {
  return json != nullptr && json->is_string() ? json->get<std::string>() : "";
}

std::optional<int64_t> json_whole(const Json* json) {
  if (json == nullptr) return std::nullopt;
  if (json->is_string()) return parse_number<int64_t>(json->get_ref<const std::string&>());
  if (!json->is_number_integer()) return std::nullopt;
  const bool is_beyond = json->is_number_unsigned() && json->get<uint64_t>() > INT64_MAX;
  return is_beyond ? std::nullopt : std::optional(json->get<int64_t>());
}

std::string shown(std::string_view text, size_t max_bytes) {
  const auto continues = [&](size_t i) { return (static_cast<uint8_t>(text[i]) & 0xC0) == 0x80; };
  if (text.size() > max_bytes) {
    while (max_bytes > 0 && continues(max_bytes)) --max_bytes;
    text = text.substr(0, max_bytes);
  }
  std::string result(text);
  for (char& c : result) {
    if (static_cast<uint8_t>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return result;
}

}  // namespace bellwether::io
