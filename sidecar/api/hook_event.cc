// Attributes in the order of the CloudEvents specification.
#include "api/hook_event.hh"

#include <array>
#include <cinttypes>
#include <cstdio>

#include "io/http/http_target.hh"

namespace bellwether::api {
namespace {

// Twenty digits hold every number, so that the texts sort as the numbers do.
std::string padded(uint64_t number) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%020" PRIu64, number);
  return text.data();
}

}  // namespace

const char* name(HookEventType type) {
  switch (type) {
    case HookEventType::kElected:
      return "io.bellwether.leader.elected";
    case HookEventType::kLost:
      return "io.bellwether.leader.lost";
    case HookEventType::kChanged:
      return "io.bellwether.leader.changed";
  }
  return "?";
}

std::string event_id(const HookSource& source, uint64_t sequence) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIx64 "-%" PRIu64, source.boot, sequence);
  return text.data();
}

std::string to_cloud_event(const HookSource& source, const HookEvent& event) {
  Json json{
      {"specversion", "1.0"},
      {"id", event_id(source, event.sequence)},
      {"source", "/bellwether/" + percent_encode(source.group) + "/" + percent_encode(source.node)},
      {"type", name(event.type)},
  };
  if (!event.subject.empty()) json["subject"] = event.subject;
  json["time"] = event.time;
  json["sequence"] = padded(event.sequence);
  json["datacontenttype"] = "application/json";
  json["data"] = event.data;
  return dump(json);
}

}  // namespace bellwether::api
