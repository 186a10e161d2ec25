// The tables: label and words of each reason.
#include "core/why.hh"

#include "base/names.hh"

namespace bellwether {
namespace {

struct Reason {
  const char* label;
  const char* words;
};

constexpr PerValue<Why, Reason> kWhy({
    {"other", "started"},
    {"announced", "a leader was announced"},
    {"superseded", "claims"},
    {"claimed", "claimed"},
    {"superseded", "granted a claim"},
    {"yielded", "it granted a newer claim"},
    {"yielded", "another leads by right"},
    {"yielded", "claims anew"},
    {"handed_over", "handed over"},
    {"handed_over", "nobody took over"},
    {"no_majority", "no majority answers"},
    {"not_renewed", "the store did not renew its lease"},
    {"record_taken", "another one has the store's record"},
    {"other", "its state is an older one"},  // than it was
    {"application_lost", "its application is gone"},
    {"application_unhealthy", "its application does not work"},
    {"lost", "the leader was lost"},
    {"resigned", "the leader resigned"},
    {"left", "left the group"},
    {"plugin_failed", "the plugin failed"},
});

constexpr PerValue<Unfit, Reason> kUnfit({
    {"own_id", "a peer has the id of this process"},
    {"id_of_voter", "a peer has the id of a voter, and another name"},
    {"epoch_too_far", "epoch too far ahead"},
    {"group_full", "the group is full"},
    {"other_voters", "its guard is not this node's: other [voters], or another record in a store"},
    {"no_voter", "it says that it leads, and is not a voter"},
    {"not_connected", "sender is not connected"},
});

}  // namespace

const char* name(Why why) { return kWhy[why].label; }
const char* words(Why why) { return kWhy[why].words; }

const char* name(Awaited awaited) {
  static constexpr Names<Awaited> kNames({"heartbeat", "answer", "coordinator", "election",
                                          "handover", "drain", "canvass", "claim", "lease", "store",
                                          "join", "hook"});
  return kNames[awaited];
}

const char* name(Unfit unfit) { return kUnfit[unfit].label; }
const char* words(Unfit unfit) { return kUnfit[unfit].words; }

const char* name(StoreFailure failure) {
  static constexpr Names<StoreFailure> kNames({"unreachable", "timeout", "tls", "unauthorized",
                                               "forbidden", "throttled", "unavailable",
                                               "malformed"});
  return kNames[failure];
}

}  // namespace bellwether
