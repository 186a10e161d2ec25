// The last elections, the newest first.
#include "api/bodies.hh"

namespace bellwether::api {
namespace {

Json messages_json(const metrics::MessageCounts& messages) {
  return {{"election", messages.election},
          {"answer", messages.answer},
          {"handover", messages.handover},
          {"coordinator", messages.coordinator},
          {"total", messages.total()}};
}

Json election_json(const PastElection& election) {
  const metrics::ElectionSummary& summary = election.summary;
  return {{"time", rfc3339(election.ended)},
          {"trigger", metrics::name(summary.trigger)},
          {"variant", election.variant},
          {"result", metrics::name(summary.result)},
          {"winner", leader_json(election.winner)},
          {"epoch", election.winner ? Json(election.epoch) : Json(nullptr)},
          {"messages", messages_json(summary.messages)},
          {"duration_ms", summary.duration ? Json(whole_ms(*summary.duration)) : Json(nullptr)}};
}

}  // namespace

Json history_body(const Backend& backend, const ElectionHistory& history) {
  Json elections = Json::array();
  for (const PastElection& election : history.elections()) {
    elections.push_back(election_json(election));
  }
  return {{"group", backend.config().group.name}, {"elections", std::move(elections)}};
}

}  // namespace bellwether::api
