// The C face of the bully plugin: the one exported symbol, and nothing of C++ passes it.
#include <bellwether/election_plugin.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>

#include "classic.hh"
#include "modified.hh"

#ifndef BELLWETHER_VERSION
#error "the build passes the project's version as BELLWETHER_VERSION"
#endif

// What the host holds.
struct election_instance {
  std::unique_ptr<bellwether::bully::Variant> variant;
};

namespace bellwether::bully {
namespace {

struct Entry {
  const char* name;
  std::unique_ptr<Variant> (*make)(const election_config& config);
  election_cost (*cost)(const Case& which);
};

template <typename Kind>
constexpr Entry entry(const char* name) {
  return {.name = name,
          .make = [](const election_config& config) -> std::unique_ptr<Variant> {
            return std::make_unique<Kind>(config);
          },
          .cost = Kind::cost};
}

constexpr Entry kEntries[] = {entry<Classic>("classic"), entry<Modified>("modified")};
constexpr const char* kVariants[] = {kEntries[0].name, kEntries[1].name, nullptr};

const Entry* find(std::string_view name) {
  const auto* const found = std::ranges::find(kEntries, name, &Entry::name);
  return found == std::end(kEntries) ? nullptr : found;
}

election_instance* create(const election_config* config) try {
  if (config->size < sizeof(election_config)) return nullptr;
  const Entry* const wanted = find(config->variant);
  if (wanted == nullptr) return nullptr;
  return new election_instance{wanted->make(*config)};
} catch (...) {
  return nullptr;
}

void destroy(election_instance* self) { delete self; }

int32_t step(election_instance* self, const election_event* event, election_output* output) try {
  const auto actions = self->variant->step(*event);
  output->actions = actions.data();
  output->action_count = static_cast<uint32_t>(actions.size());
  output->deadline_ns = self->variant->deadline_ns();
  return 0;
} catch (...) {
  return -1;  // out of memory: nothing else in here throws
}

int32_t messages(const char* variant, const election_case* which, election_cost* cost) {
  const Entry* const wanted = find(variant);
  const Case asked(*which);
  if (wanted == nullptr || asked.is_anybody_held()) return -1;
  *cost = wanted->cost(asked);
  return 0;
}

constexpr election_cost_extension kCostExtension = {
    .size = sizeof(election_cost_extension), .reserved = 0, .messages = messages};

const void* extension(const char* id) {
  return id == std::string_view(ELECTION_COST_EXTENSION) ? &kCostExtension : nullptr;
}

}  // namespace
}  // namespace bellwether::bully

extern "C" const election_plugin bellwether_election_plugin = {
    .abi_major = ELECTION_ABI_MAJOR,
    .abi_minor = ELECTION_ABI_MINOR,
    .size = sizeof(election_plugin),
    .reserved = 0,
    .name = "bully",
    .version = BELLWETHER_VERSION,
    .variants = bellwether::bully::kVariants,
    .create = bellwether::bully::create,
    .destroy = bellwether::bully::destroy,
    .step = bellwether::bully::step,
    .extension = bellwether::bully::extension,
};
