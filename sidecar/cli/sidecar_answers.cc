// Nothing in here trusts the form of an answer.
#include "cli/sidecar_answers.hh"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>

#include "cli/styled_text.hh"

namespace bellwether::cli {
namespace {

constexpr unsigned kOk = 200;

// What could steer the terminal is not printed.
std::string printable(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7F) c = '?';
  }
  return text;
}

std::string lines_of(const Json& object, const char* key) {
  std::string text;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return text;
  for (const Json& line : *found) {
    text += "\n" + value_text(line);
  }
  return text;
}

std::string with_unit(const Json& object, const char* key, const char* unit) {
  const std::string text = text_of(object, key);
  return text == "-" ? text : text + unit;
}

std::string heard_text(const Json& member) {
  const auto found = member.find("last_heard_ms");
  if (found == member.end() || !found->is_number_integer()) return "-";
  return age_text(std::chrono::milliseconds(found->get<int64_t>())) + " ago";
}

Span state_cell(const Json& member) {
  const std::string state = text_of(member, "state");
  const Style style = state == "alive"     ? Style::kGood
                      : state == "suspect" ? Style::kDoubtful
                      : state == "down"    ? Style::kBad
                                           : Style::kFaint;
  return {state, style};
}

Span role_cell(const Json& member, bool has_leader) {
  const bool is_leader = is_true(member, "is_leader");
  std::string role = is_leader ? "leader" : "follower";
  if (!has_leader || text_of(member, "state") != "alive") role = "-";
  if (is_true(member, "is_self")) role += " (here)";
  return {role, is_leader ? Style::kStrong : Style::kPlain};
}

constexpr std::array kHeads{"member", "state",      "role",    "priority", "address",
                            "heard",  "round trip", "variant", "version"};
// The one that can be spared first in front.
constexpr std::array kSpared{"version", "round trip", "priority", "variant", "heard", "address"};

Row member_row(const Json& member, bool has_leader) {
  return {
      Span(text_of(member, "name"), is_true(member, "is_leader") ? Style::kStrong : Style::kPlain),
      state_cell(member),
      role_cell(member, has_leader),
      text_of(member, "priority"),
      text_of(member, "address"),
      heard_text(member),
      with_unit(member, "rtt_ms", "ms"),
      text_of(member, "variant"),
      text_of(member, "version")};
}

void remove_column(std::vector<Row>& rows, const std::string& head) {
  size_t column = 0;
  while (rows.front()[column].text != head) ++column;
  for (Row& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
}

}  // namespace

std::string age_text(Duration age) {
  using std::chrono::days;
  using std::chrono::floor;
  using std::chrono::hours;
  using std::chrono::milliseconds;
  using std::chrono::minutes;
  using std::chrono::seconds;
  const int64_t ms = std::max<int64_t>(std::chrono::duration_cast<milliseconds>(age).count(), 0);
  constexpr int64_t kTenthOfSecond = 100;
  if (age < seconds(1)) return std::to_string(ms) + "ms";
  if (age < seconds(10)) {
    const int64_t tenths = ms / kTenthOfSecond;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "s";
  }
  const auto pair = [](auto large, const char* large_unit, auto small, const char* small_unit) {
    return std::to_string(large) + large_unit + " " + std::to_string(small) + small_unit;
  };
  const std::chrono::hh_mm_ss parts(floor<seconds>(age));
  if (age < minutes(1)) return std::to_string(parts.seconds().count()) + "s";
  if (age < hours(1)) {
    return pair(parts.minutes().count(), "m", parts.seconds().count(), "s");
  }
  if (age < days(1)) return pair(parts.hours().count(), "h", parts.minutes().count(), "m");
  const auto whole_days = floor<days>(age);
  return pair(whole_days.count(), "d", floor<hours>(age - whole_days).count(), "h");
}

std::optional<Duration> age_of(const std::string& moment) {
  tm date{};
  const char* const rest = ::strptime(moment.c_str(), "%Y-%m-%dT%H:%M:%S", &date);
  if (rest == nullptr || moment.back() != 'Z') return std::nullopt;
  // Neither may be too far away for a count of nanoseconds.
  const std::chrono::sys_seconds then(std::chrono::seconds(::timegm(&date)));
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  if (then > now || then < std::chrono::sys_seconds()) return std::nullopt;
  return now - then;
}

Json require_json(const ApiClient& client, const HttpAnswer& answer, const char* key) {
  const auto json = parse_json(answer.body);
  const bool is_object = json && json->is_object();
  if (is_object && answer.status == kOk && json->contains(key)) return *json;
  if (is_object && answer.status != kOk && json->contains("error")) {
    throw ApiError(text_of(*json, "error") + lines_of(*json, "errors"));
  }
  throw ApiError("what answers at " + client.address().text() + " is not a sidecar (status " +
                 std::to_string(answer.status) + "); --api says where it is");
}

std::string value_text(const Json& value) {
  return printable(value.is_string() ? value.get<std::string>() : dump(value));
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "-";
  return value_text(*found);
}

const Json& object_in(const Json& object, const char* key) {
  static const Json kEmpty = Json::object();
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : kEmpty;
}

bool is_true(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && *found == true;
}

std::string leader_text(const Json& leader) {
  const std::string name = text_of(object_in(leader, "leader"), "name");
  if (name == "-") return "there is no leader";
  return name + " leads, epoch " + text_of(leader, "epoch");
}

std::string vote_text(const Json& vote) {
  const std::string why = text_of(vote, "why");
  return text_of(vote, "state") + (why == "-" ? "" : ": " + why);
}

std::vector<Json> objects_in(const Json& object, const char* key) {
  std::vector<Json> found;
  const auto list = object.find(key);
  if (list == object.end() || !list->is_array()) return found;
  for (const Json& item : *list) {
    if (item.is_object()) found.push_back(item);
  }
  return found;
}

std::vector<Line> member_lines(const Json& members, size_t width) {
  std::vector<Row> rows(1);
  for (const char* head : kHeads) rows.front().emplace_back(head, Style::kFaint);
  const auto& all = objects_in(members, "members");
  const bool has_leader =
      std::ranges::any_of(all, [](const Json& member) { return is_true(member, "is_leader"); });
  for (const Json& member : all) rows.push_back(member_row(member, has_leader));
  for (const char* head : kSpared) {
    if (width_of(rows) <= width) break;
    remove_column(rows, head);
  }
  return aligned(rows);
}

}  // namespace bellwether::cli
