// What the sidecar answered, made ready for people: JSON that may lack keys (the sidecar may be of
// another version), and names that peers have sent.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.hh"
#include "base/json.hh"
#include "base/names.hh"
#include "cli/api_client.hh"
#include "cli/styled_text.hh"

namespace bellwether::cli {

// "40ms", "3.8s", "42s", "5m 12s", "3h 7m", "12d 4h"; what is below zero is "0ms".
std::string age_text(Duration age);

// How long ago a moment is that the API has named ("2026-01-31T09:00:01.250Z"), by this host's
// clock; nothing when it is none, or still to come.
std::optional<Duration> age_of(const std::string& moment);

// The body of an answer of 200, which has `key`, as all answers of its kind have.  Throws ApiError
// otherwise: with the sidecar's own words when it refuses, or because what answers is not a
// sidecar.
Json require_json(const ApiClient& client, const io::HttpAnswer& answer, const char* key);
inline Json get_json(ApiClient& client, const std::string& target, const char* key) {
  return require_json(client, client.get(target), key);
}

// The same for what is asked in several places.
inline Json get_leader(ApiClient& client) { return get_json(client, "/v1/leader", "leader"); }
inline Json get_status(ApiClient& client) { return get_json(client, "/v1/status", "node"); }
inline Json get_members(ApiClient& client) { return get_json(client, "/v1/members", "members"); }

// The value of a key as text that a terminal can take: a string without its quotes, anything else
// as JSON; "" for null and what is not there, and "-" where it is shown.
std::string text_in(const Json& object, const char* key);
std::string text_of(const Json& object, const char* key);
// The value whose name stands there; nothing for any other word.
template <typename Enum>
std::optional<Enum> word_in(const Json& object, const char* key) {
  return value_named<Enum>(text_in(object, key));
}
// The object under a key; an empty one when there is none.
const Json& object_in(const Json& object, const char* key);
// A number of milliseconds under a key as age_text() has it; "" when there is none.
std::string age_in(const Json& object, const char* key);
bool is_true(const Json& object, const char* key);
// Of one in /v1/members.
bool is_alive(const Json& member);

// "orders-2 leads, epoch 7" or "there is no leader"; from a body of /v1/leader.
std::string leader_text(const Json& leader);

// "in force", or "forgotten: why"; from `vote` of /v1/status, "-" where that is null.
std::string vote_text(const Json& vote);

// Of `store` of /v1/status: who holds its record, as this sidecar has seen it last.
std::string record_text(const Json& store);
// What an operator should know of it; "": all is well.
std::string store_trouble(const Json& store);

// Of `application` of /v1/status: "worker attached, healthy, score 42"; "" where [application] asks
// for nothing and none is attached.
std::string application_text(const Json& application);

// The objects of an array under a key, without what else is there; or all of it, as text.
std::vector<Json> objects_in(const Json& object, const char* key);
std::vector<std::string> texts_in(const Json& object, const char* key);

// The table of members, its head first; from a body of /v1/members.  Where it is wider than `width`
// it loses columns, the least important one first.
std::vector<Line> member_lines(const Json& members, size_t width);

}  // namespace bellwether::cli
