// What is wrong is named, for it is a person who reads it.
#include "api/request_body.hh"

#include <fmt/core.h>

#include <algorithm>
#include <string>

namespace bellwether::api {
namespace {

bool is_of(BodyKey::Kind kind, const Json& value) {
  switch (kind) {
    case BodyKey::Kind::kString:
      return value.is_string();
    case BodyKey::Kind::kTruth:
      return value.is_boolean();
    case BodyKey::Kind::kNumber:
      break;
  }
  return true;
}

}  // namespace

std::optional<Json> read_body(const io::HttpRequest& request, std::span<const BodyKey> keys,
                              Exchange& exchange) {
  if (request.body.find_first_not_of(" \t\r\n") == std::string::npos) return Json::object();
  const auto refuse = [&](const std::string& error) {
    exchange.send(error_response(400, error));
    return std::nullopt;
  };
  auto json = parse_json(request.body);
  if (!json || !json->is_object()) return refuse("the body is not a JSON object");
  for (const auto& [name, value] : json->items()) {
    const auto key = std::ranges::find(keys, name, &BodyKey::name);
    if (key == keys.end()) {
      std::string known;
      for (const BodyKey& one : keys) {
        known += fmt::format("{}\"{}\"", known.empty() ? "it takes " : " and ", one.name);
      }
      return refuse(fmt::format("the body has no use for \"{}\"; {}", name,
                                known.empty() ? "leave it empty" : known));
    }
    if (!is_of(key->kind, value)) {
      const bool is_truth = key->kind == BodyKey::Kind::kTruth;
      return refuse(fmt::format("\"{}\" is {}", name, is_truth ? "true or false" : "a string"));
    }
  }
  return json;
}

}  // namespace bellwether::api
