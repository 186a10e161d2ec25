// The check of the store that decides who leads.
#include <fmt/core.h>

#include <algorithm>

#include "base/duration_text.hh"
#include "config/core_options.hh"
#include "doctor/checks.hh"

namespace bellwether::doctor {
namespace {

using Holder = StoreRecord::Holder;

// What a Lease of ours can be told to last at most.
constexpr Duration kLongLease = std::chrono::minutes(1);

// What the words of the client do not say already.
const char* remedy_of(StoreFailure failure) {
  constexpr const char* kReach =
      "let TCP through to it from here (firewall, NetworkPolicy), and look whether it runs";
  static constexpr PerValue<StoreFailure, const char*> kRemedies(
      {kReach, kReach,
       "give the store's table the ca of its certificate, and a name or address that is in it",
       "replace the token or the password; the file is read again by itself",
       "grant what it names; nothing has to be restarted",
       "look who asks it that often; the group itself writes once per renew_interval",
       "look at the store's own health: its leader, its quorum, its disk",
       "correct the address: kubernetes.server, or etcd.endpoints"});
  return kRemedies[failure];
}

bool is_known_member(const Facts& facts, const StoreRecord& record) {
  return std::ranges::any_of(facts.sidecar->members, [&](const MemberFacts& member) {
    return member.id == to_string(record.id);
  });
}

void check_record(const Facts& facts, const std::string& name, Findings& found) {
  const StoreFacts& store = *facts.store;
  const StoreRecord& record = store.record;
  const std::string holder = name + " is held by " + record.name;
  if (!store.has_record) {
    return found.ok(name + " does not exist yet: who is to lead makes it, and waits for one lease");
  }
  if (record.holder == Holder::kStranger) {
    found.warning(holder + ", which is not a member; its lease is waited for",
                  "end that client, or give this group a record of its own");
  } else if (record.holder == Holder::kMember && facts.has_sidecar() &&
             !is_known_member(facts, record)) {
    found.warning(holder + ", whom the sidecar here does not know",
                  "if that is a member, see names and reach; if it is of another group, give each "
                  "group a record of its own; a member that is gone only has to be waited for");
  }
  if (record.lease > kLongLease) {
    found.warning(fmt::format("{} is for {}: so long everybody waits once its holder is silent",
                              name, duration_text(record.lease)),
                  "shorten the lease of the client that wrote it");
  }
  if (!found.is_empty()) return;
  if (record.holder == Holder::kMember) {
    return found.ok(fmt::format("{}, epoch {}, at {}", holder, record.epoch, store.server));
  }
  found.ok(name +
           (record.holder == Holder::kReleased
                ? " is released: whoever is to lead can take it at once"
                : " has no holder that is known: it can be taken after one lease, the longest that "
                  "the members have seen in it (bellwether explain)"));
}

}  // namespace

void check_store(const Facts& facts, Findings& found) {
  const Config& config = *facts.config.config;
  if (!config.has_store_guard()) {
    return found.ok(fmt::format("none decides: guard \"{}\"", config.guard()));
  }
  if (!facts.store) return found.skipped("it was not asked");
  const StoreFacts& store = *facts.store;
  const std::string theirs = facts.has_sidecar() ? facts.sidecar->store_trouble : "";
  if (!store.trouble.empty()) {
    found.problem(store.trouble, remedy_of(store.failure.value_or(StoreFailure::kUnreachable)));
  }
  if (!theirs.empty() && theirs != store.trouble) {
    found.problem("the sidecar says: " + theirs,
                  "do what it says; if only the sidecar meets it, look at its user's rights and at "
                  "what it has mounted");
  }
  if (found.is_empty()) check_record(facts, store_name(config), found);
}

}  // namespace bellwether::doctor
