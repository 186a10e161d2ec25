// What one step shows, and what only a whole life shows.
#include "core/self_check.hh"

#include <algorithm>

namespace bellwether {
namespace {

struct NameOf {
  const char* operator()(const Start&) const { return "start"; }
  const char* operator()(const Joined&) const { return "joined"; }
  const char* operator()(const LinkUp&) const { return "HELLO"; }
  const char* operator()(const LinkDown& down) const { return name(down.evidence); }
  const char* operator()(const FrameReceived& received) const {
    return name(type_of(received.frame));
  }
  const char* operator()(const Tick&) const { return "tick"; }
  const char* operator()(const Persisted& stored) const {
    return stored.is_ok ? "stored" : "not stored";
  }
  const char* operator()(const StoreSeen&) const { return "record seen"; }
  const char* operator()(const StoreAnswered& answer) const {
    return answer.is_written ? "record written" : "record not written";
  }
  const char* operator()(const StoreFailed&) const { return "store failed"; }
  const char* operator()(const Elect&) const { return "elect"; }
  const char* operator()(const StepDown&) const { return "step down"; }
  const char* operator()(const Transfer&) const { return "transfer"; }
  const char* operator()(const Forget&) const { return "forget"; }
  const char* operator()(const LeaveGroup&) const { return "leave"; }
  const char* operator()(const Reconfigure&) const { return "reconfigure"; }
  const char* operator()(const Drained&) const { return "drained"; }
  const char* operator()(const Application& application) const {
    return application.is_able() ? "able application" : name(application.ability);
  }
};

// One effect for the log; "" for those that nobody outside depends on.
struct TextOf {
  Instant now;

  std::string operator()(const Send& send) const {
    const Header& header = send.frame.header;
    return std::string(name(type_of(send.frame))) + " to " + to_string(send.to) + " in epoch " +
           std::to_string(header.epoch) + ", released " + std::to_string(header.released);
  }
  std::string operator()(const Persist& store) const {
    return "store epoch " + std::to_string(store.record.max_epoch) + ", granted to " +
           to_string(store.record.granted_to);
  }
  std::string operator()(const StoreWrite& write) const {
    return "write record of epoch " + std::to_string(write.record.epoch) + ", holder " +
           to_string(write.record.id);
  }
  std::string operator()(const Publish& publish) const {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(publish.valid_until - now);
    const std::string epoch = " in epoch " + std::to_string(publish.epoch);
    return publish.is_leader ? "flag on" + epoch + " for " + std::to_string(left.count()) + " ms"
                             : "flag off";
  }
  template <OneOf<RefuseLink, EndLink, PersistMembers, StoreRead, StoreWatch, DrainBegun,
                  DrainEnded, MembersChanged, Progress, TimedOut, Stale, Rejected, Sighting, Remark,
                  Outcome, Left, Failed>
                Other>
  std::string operator()(const Other&) const {
    return "";
  }
};

}  // namespace

void SelfCheck::before_step(Instant now, const Input& input) {
  now_ = now;
  before_ = after_;
  if (std::holds_alternative<Start>(input)) earlier_lives_until_ = now + before_.lease_seen;
  notes_[next_note_] = note_of(now, input);
  next_note_ = (next_note_ + 1) % kNotes;
}

std::optional<std::string> SelfCheck::broken_by_step(const Effects& effects) {
  after_ = NodeSummary(node_);
  auto broken = first_broken(effects);
  if (broken) wanted_ = describe(effects);
  return broken;
}

std::optional<std::string> SelfCheck::first_broken(const Effects& effects) {
  // First what the others take for granted.
  if (auto broken = broken_by_missing_lease(node_)) return broken;
  if (auto broken = broken_by_effects(before_, effects)) return broken;
  if (auto broken = broken_by_change(before_, after_)) return broken;
  if (auto broken = broken_by_promises(before_, node_, now_, effects)) return broken;
  if (auto broken = broken_by_memory()) return broken;
  if (auto broken = broken_by_history(effects)) return broken;
  // A node that has ended keeps no promise any more, and says itself why it failed.
  if (node_.has_left() || node_.has_failed()) return std::nullopt;
  if (auto broken = broken_by_lease(node_, now_, effects)) return broken;
  if (auto broken = broken_by_flag()) return broken;
  return broken_by_state(node_);
}

// [I15] A voter's next life will wait for the longest lease that is stored.
std::optional<std::string> SelfCheck::broken_by_memory() {
  if (node_.majority() == nullptr) return std::nullopt;
  const Duration own = node_.lease() != nullptr ? node_.lease()->length() : Duration::zero();
  longest_lease_ = std::max({longest_lease_, after_.voted_lease, own});
  if (after_.lease_seen < longest_lease_) return "forgot the longest lease of this life";
  if (after_.lease_seen < before_.lease_seen && now_ < earlier_lives_until_)
    return "forgot what earlier lives may have promised";
  return std::nullopt;
}

std::optional<std::string> SelfCheck::broken_by_history(const Effects& effects) {
  const bool has_lease_of_others =
      node_.is_leading() && node_.majority() != nullptr && node_.majority()->quorum() > 1;
  const StoreGuard* store = node_.store();
  const uint64_t kept = store != nullptr ? store->disk.stored().max_epoch : UINT64_MAX;
  // Whether or not there was anybody to send it to: who answers none tells a lie, and that is no
  // mistake of this process.
  if (after_.sequence != before_.sequence) last_beat_at_ = now_;
  for (const Effect& effect : effects) {
    if (const auto* send = std::get_if<Send>(&effect)) {
      released_epoch_ = std::max(released_epoch_, send->frame.header.released);
      if (released_epoch_ > kept) return "released an epoch that its disk may lose";  // [I6]
    } else if (const auto* write = std::get_if<StoreWrite>(&effect)) {
      last_write_at_ = now_;
      // Whoever claims next takes an epoch above it, and may have heard of no other.
      const bool is_there = store != nullptr && !store->view.is_absent();
      const uint64_t seen = is_there ? store->view.record().epoch : 0;
      if (write->record.epoch < seen) return "let the record's epoch fall";  // [I2]
    } else if (const auto* ended = std::get_if<DrainEnded>(&effect)) {
      if (ended->end == DrainEnd::kCalledOff) flag_.is_draining = false;
    } else if (const auto* publish = std::get_if<Publish>(&effect)) {
      const bool is_begun =
          publish->is_leader && !(flag_.is_leader && flag_.epoch == publish->epoch);
      if (!is_begun && flag_.is_draining && publish->is_leader && !publish->is_draining) {
        return "takes on new work after it has drained";  // [I17]
      }
      flag_ = *publish;
      if (!publish->leader) continue;
      if (publish->epoch < published_epoch_) return "a published epoch fell";  // [I10]
      published_epoch_ = publish->epoch;
      if (!publish->is_leader) continue;
      if (publish->epoch <= released_epoch_) return "leads an epoch that it has released";  // [I14]
      if (publish->epoch > kept) return "leads an epoch that its disk may lose";            // [I6]
      if (store != nullptr && is_begun && publish->epoch < node_.known_epoch())
        return "begins to lead, and has heard of a later epoch";  // [I10]
      if (store != nullptr && publish->valid_until > store->held_until(last_write_at_))
        return "its flag holds longer than any write allows";  // [I3]
      // Nobody can have promised anything on a heartbeat that was not sent yet.
      if (!has_lease_of_others) continue;
      const Duration validity = validity_of(node_.lease()->length());
      if (publish->valid_until > last_beat_at_ + validity)
        return "its flag holds longer than any heartbeat allows";  // [I3]
    }
  }
  return std::nullopt;
}

// [I3] Whose flag is on leads, in that epoch.
std::optional<std::string> SelfCheck::broken_by_flag() const {
  if (!flag_.is_leader || flag_.valid_until <= now_) return std::nullopt;
  if (!node_.is_leading()) return "its flag is on though it does not lead";
  if (node_.leader()->epoch != flag_.epoch) return "its flag names another epoch than it leads";
  return std::nullopt;
}

SelfCheck::Note SelfCheck::note_of(Instant now, const Input& input) {
  Note note{.what = std::visit(NameOf(), input), .at = now};
  if (const auto* received = std::get_if<FrameReceived>(&input)) {
    note.peer = received->from;
    note.epoch = received->frame.header.epoch;
  } else if (const auto* up = std::get_if<LinkUp>(&input)) {
    note.peer = up->hello.self.id;
    note.epoch = up->hello.header.epoch;
  } else if (const auto* down = std::get_if<LinkDown>(&input)) {
    note.peer = down->peer;
  } else if (const auto* stored = std::get_if<Persisted>(&input)) {
    note.epoch = stored->record.max_epoch;
  }
  return note;
}

std::string SelfCheck::last_inputs() const {
  std::string text;
  for (size_t i = 1; i <= kNotes; ++i) {
    const Note& note = notes_[(next_note_ + kNotes - i) % kNotes];
    if (note.what == nullptr) break;
    const auto ago = std::chrono::duration_cast<std::chrono::microseconds>(now_ - note.at);
    if (!text.empty()) text += "; ";
    text += note.what;
    if (note.peer != Uuid{}) text += " of " + to_string(note.peer);
    if (note.epoch != 0) text += " in epoch " + std::to_string(note.epoch);
    text += ", " + std::to_string(ago.count()) + " us ago";
  }
  return text;
}

std::string SelfCheck::describe(const Effects& effects) const {
  constexpr int kMostEffects = 8;
  std::string text;
  int described = 0;
  for (const Effect& effect : effects) {
    const std::string one = std::visit(TextOf{now_}, effect);
    if (one.empty()) continue;
    if (described++ == kMostEffects) return text + "; ...";
    text += (text.empty() ? "" : "; ") + one;
  }
  return text;
}

std::string SelfCheck::describe(const NodeSummary& summary) {
  std::string text = summary.is_leading    ? "leads"
                     : summary.is_claiming ? "claims"
                     : summary.leader      ? "follows " + to_string(summary.leader->id)
                                           : "knows no leader";
  if (summary.leader) text += " in epoch " + std::to_string(summary.leader->epoch);
  text += ", highest epoch " + std::to_string(summary.max_epoch);
  if (summary.granted_to != Uuid{}) text += ", granted to " + to_string(summary.granted_to);
  return text;
}

}  // namespace bellwether
