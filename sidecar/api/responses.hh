// The few forms that all answers have.
#pragma once

#include <string>
#include <utility>

#include "base/json.hh"
#include "io/http/http_server.hh"

namespace bellwether::api {

// That nobody may keep it is said by the server, for all answers.
inline HttpResponse json_response(unsigned status, const Json& body) {
  return {.status = status, .body = dump(body) + "\n"};
}

inline HttpResponse error_response(unsigned status, const std::string& error) {
  return json_response(status, {{"error", error}});
}

// For clients that find no place; they may try again soon.
inline HttpResponse busy_response(const std::string& error) {
  HttpResponse response = error_response(503, error);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace bellwether::api
