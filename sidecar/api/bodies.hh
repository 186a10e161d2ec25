// What the answers say: each function reads the sidecar's state and makes one body.  Keys are
// documented in README.md, in this order.
#pragma once

#include <string>
#include <string_view>

#include "api/backend.hh"
#include "api/history.hh"
#include "api/leadership.hh"
#include "base/json.hh"

namespace bellwether::api {

// GET /v1/leader, events and webhooks.  A leadership that is not the feed's current one is over:
// `is_leader` is false and it is valid no longer.
Json leader_body(const Backend& backend, const LeadershipFeed& feed, const Leadership& leadership);

// Of a leader that lets its application finish: {"epoch","reason","successor","since","until",
// "left_ms"}; null: none does.
Json draining_json(const Backend& backend);

Json members_body(const Backend& backend, const LeadershipFeed& feed);
Json status_body(const Backend& backend, const LeadershipFeed& feed);
Json history_body(const Backend& backend, const ElectionHistory& history,
                  const LeadershipFeed& feed);
Json explain_body(const Backend& backend, const LeadershipFeed& feed);

// Members by rank, the highest first; those that have left come last.
std::vector<const Member*> members_by_rank(const Node& node);

// Whole milliseconds, rounded down.
inline int64_t whole_ms(Duration duration) {
  return std::chrono::floor<std::chrono::milliseconds>(duration).count();
}

// One sentence without its full stop, if nobody leads and the reason is the same for all who could:
// "nobody's application is able".  "": somebody leads, or each has a reason of its own.
std::string why_nobody_leads(const Backend& backend, const LeadershipFeed& feed);

// One sentence without its full stop: what the vote of this node is, and when that ends.
std::string vote_text(const Backend& backend);
// What this node's vote is, and whether it has one; null: it is not a voter.
Json vote_json(const Backend& backend);

// "250ms", "12s", "3m": as much as a sentence needs.
std::string rough(Duration duration);

// HTML, complete: its style and scripts are inside, and it loads nothing but the API's answers.
std::string_view ui_page();

// Its Content-Security-Policy, by which a browser runs exactly these scripts and nothing that got
// into the page later.
std::string_view ui_policy();

}  // namespace bellwether::api
