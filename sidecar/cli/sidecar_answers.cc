// Nothing in here trusts the form of an answer.
#include "cli/sidecar_answers.hh"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>

#include "core/member_view.hh"
#include "core/store_record.hh"

namespace bellwether::cli {
namespace {

using Holder = StoreRecord::Holder;

constexpr unsigned kOk = 200;
constexpr unsigned kAccepted = 202;  // under way

// What could steer the terminal is not printed: controls, also the second set of them, which in
// UTF-8 is C2 80 to C2 9F.
std::string printable(std::string text) {
  unsigned char before = 0;
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_second_set = before == 0xC2 && byte >= 0x80 && byte < 0xA0;
    if (byte < ' ' || byte == 0x7F || is_second_set) c = '?';
    before = byte;
  }
  return text;
}

std::string value_text(const Json& value) {
  return printable(value.is_string() ? value.get<std::string>() : dump(value));
}

std::string with_unit(const Json& object, const char* key, const char* unit) {
  const std::string text = text_in(object, key);
  return text.empty() ? "-" : text + unit;
}

std::vector<Json> items_in(const Json& object, const char* key) {
  const auto list = object.find(key);
  if (list == object.end() || !list->is_array()) return {};
  return {list->begin(), list->end()};
}

Span state_cell(const Json& member) {
  const auto liveness = word_in<Liveness>(member, "state");
  const Style style = liveness == Liveness::kAlive     ? Style::kGood
                      : liveness == Liveness::kSuspect ? Style::kDoubtful
                      : liveness == Liveness::kDown    ? Style::kBad
                                                       : Style::kFaint;
  return {text_of(member, "state"), style};
}

Span role_cell(const Json& member, bool has_leader) {
  const bool is_leader = is_true(member, "is_leader");
  std::string role = is_leader ? "leader" : "follower";
  if (!has_leader || !is_alive(member)) role = "-";
  if (is_true(member, "is_self")) role += " (here)";
  return {role, is_leader ? Style::kStrong : Style::kPlain};
}

Span application_cell(const Json& member) {
  if (is_true(member, "is_draining")) return {"finishes", Style::kPlain};
  if (is_true(member, "is_able")) return {"able", Style::kPlain};
  return {text_of(member, "why_not_able"), Style::kDoubtful};
}

constexpr std::array kMemberHeads{"member",     "state",    "role",    "application",
                                  "score",      "priority", "address", "heard",
                                  "round trip", "variant",  "version"};
// The one that can be spared first in front.
constexpr std::array kSpared{"version", "round trip", "priority", "variant",
                             "heard",   "address",    "score",    "application"};

Row member_row(const Json& member, bool has_leader) {
  const std::string heard = age_in(member, "last_heard_ms");
  return {
      Span(text_of(member, "name"), is_true(member, "is_leader") ? Style::kStrong : Style::kPlain),
      state_cell(member),
      role_cell(member, has_leader),
      application_cell(member),
      text_of(member, "score"),
      text_of(member, "priority"),
      text_of(member, "address"),
      heard.empty() ? "-" : heard + " ago",
      with_unit(member, "rtt_ms", "ms"),
      text_of(member, "variant"),
      text_of(member, "version")};
}

bool has_news_of_application(const Json& member) {
  return is_true(member, "is_draining") || !text_in(member, "why_not_able").empty();
}

bool has_score(const Json& member) {
  const std::string score = text_in(member, "score");
  return !score.empty() && score != "0";
}

// Nothing where it was removed already.
void remove_column(std::vector<Row>& rows, const std::string& head) {
  size_t column = 0;
  while (column < rows.front().size() && rows.front()[column].text != head) ++column;
  if (column == rows.front().size()) return;
  for (Row& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
}

// "finishes for step_down, 12s left, waits for worker"
std::string draining_text(const Json& draining) {
  std::string text = "finishes for " + text_of(draining, "reason");
  if (const std::string left = age_in(draining, "left_ms"); !left.empty()) {
    text += ", " + left + " left";
  }
  const std::vector<std::string> names = texts_in(draining, "waiting_for");
  return names.empty() ? text : fmt::format("{}, waits for {}", text, fmt::join(names, ", "));
}

}  // namespace

std::string age_text(Duration age) {
  using std::chrono::days;
  using std::chrono::floor;
  using std::chrono::hours;
  using std::chrono::milliseconds;
  using std::chrono::minutes;
  using std::chrono::seconds;
  age = std::max(age, Duration::zero());
  if (age < seconds(1)) return fmt::format("{}ms", floor<milliseconds>(age).count());
  if (age < seconds(10)) {
    const auto tenths = age / milliseconds(100);
    return fmt::format("{}.{}s", tenths / 10, tenths % 10);
  }
  const auto days_of_it = floor<days>(age);
  const std::chrono::hh_mm_ss parts(floor<seconds>(age - days_of_it));
  const auto h = parts.hours().count();
  const auto m = parts.minutes().count();
  const auto s = parts.seconds().count();
  if (age < minutes(1)) return fmt::format("{}s", s);
  if (age < hours(1)) return fmt::format("{}m {}s", m, s);
  if (age < days(1)) return fmt::format("{}h {}m", h, m);
  return fmt::format("{}d {}h", days_of_it.count(), h);
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

Json require_json(const ApiClient& client, const io::HttpAnswer& answer, const char* key) {
  const auto json = parse_json(answer.body);
  const bool is_object = json && json->is_object();
  const bool is_yes = answer.status == kOk || answer.status == kAccepted;
  if (is_object && is_yes && json->contains(key)) return *json;
  if (is_object && !is_yes && json->contains("error")) {
    std::string text = text_of(*json, "error");
    for (const std::string& line : texts_in(*json, "errors")) text += "\n" + line;
    throw ApiError(text);
  }
  throw ApiError(
      fmt::format("what answers at {} is not a sidecar (status {}); is that its [api] listen?",
                  client.address().text(), answer.status));
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? "" : value_text(*found);
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? "-" : value_text(*found);
}

const Json& object_in(const Json& object, const char* key) {
  static const Json kEmpty = Json::object();
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : kEmpty;
}

bool is_alive(const Json& member) { return word_in<Liveness>(member, "state") == Liveness::kAlive; }

bool is_true(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && *found == true;
}

std::string leader_text(const Json& leader) {
  const std::string name = text_in(object_in(leader, "leader"), "name");
  if (name.empty()) return "there is no leader";
  return name + " leads, epoch " + text_of(leader, "epoch");
}

std::string vote_text(const Json& vote) {
  const std::string why = text_in(vote, "why");
  return text_of(vote, "state") + (why.empty() ? "" : ": " + why);
}

std::string record_text(const Json& store) {
  const Json& record = object_in(store, "record");
  const auto holder = word_in<Holder>(record, "state");
  if (record.empty()) return "no record was seen";
  if (holder == Holder::kReleased) return "released";
  if (holder == Holder::kUnknown) return "held by nobody who is known";
  std::string text = "held by " + text_of(record, "holder");
  if (holder == Holder::kStranger) text += ", which is not a member";
  if (!is_true(record, "is_watched")) return text + " when it was last looked at";
  const std::string age = age_in(record, "unchanged_for_ms");
  return age.empty() ? text : text + ", written " + age + " ago";
}

std::string store_trouble(const Json& store) {
  std::string trouble = text_in(store, "trouble");
  if (!trouble.empty()) return trouble;
  const Json& record = object_in(store, "record");
  if (word_in<Holder>(record, "state") != Holder::kStranger) return "";
  return "held by " + text_of(record, "holder") + ", which is not a member";
}

std::string application_text(const Json& application) {
  const std::vector<std::string> attached = texts_in(application, "attached");
  std::string text = attached.empty() ? "" : fmt::format("{} attached", fmt::join(attached, ", "));
  if (attached.empty() && is_true(application, "attach")) text = "none is attached";
  const bool is_checked = !text_in(application, "health").empty();
  if (is_checked) {
    const std::string flaw = text_in(application, "why_not_healthy");
    const bool is_healthy = is_true(application, "is_healthy");
    text += (text.empty() ? "" : ", ") + std::string(is_healthy ? "healthy" : "not healthy");
    if (!flaw.empty()) text += ": " + flaw;
  }
  if (const Json& draining = object_in(application, "draining"); !draining.empty()) {
    text += (text.empty() ? "" : ", ") + draining_text(draining);
  }
  const std::string score = text_in(application, "score");
  if (!score.empty() && score != "0") text += (text.empty() ? "score " : ", score ") + score;
  return text;
}

std::string age_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return "";
  return age_text(std::chrono::milliseconds(found->get<int64_t>()));
}

std::vector<Json> objects_in(const Json& object, const char* key) {
  std::vector<Json> found = items_in(object, key);
  std::erase_if(found, [](const Json& item) { return !item.is_object(); });
  return found;
}

std::vector<std::string> texts_in(const Json& object, const char* key) {
  std::vector<std::string> found;
  for (const Json& item : items_in(object, key)) found.push_back(value_text(item));
  return found;
}

std::vector<Line> member_lines(const Json& members, size_t width) {
  std::vector<Row> rows(1);
  for (const char* head : kMemberHeads) rows.front().emplace_back(head, Style::kFaint);
  const auto& all = objects_in(members, "members");
  const bool has_leader =
      std::ranges::any_of(all, [](const Json& member) { return is_true(member, "is_leader"); });
  for (const Json& member : all) rows.push_back(member_row(member, has_leader));
  // Where no member has anything to say of its application, nor older ones know of it.
  if (std::ranges::none_of(all, has_news_of_application)) remove_column(rows, "application");
  if (std::ranges::none_of(all, has_score)) remove_column(rows, "score");
  for (const char* head : kSpared) {
    if (width_of(rows) <= width) break;
    remove_column(rows, head);
  }
  return aligned(rows);
}

}  // namespace bellwether::cli
