// The count of grants.
#include "core/candidacy.hh"

#include <algorithm>

namespace bellwether {

void Candidacy::note_grant(size_t slot, Promises waits, Instant boot_until) {
  grants_[slot] = Grant{std::move(waits), boot_until};
}

void Candidacy::release(const Uuid& leader, uint64_t epoch) {
  for (auto& grant : grants_) {
    if (grant) grant->waits.release(leader, epoch);
  }
}

size_t Candidacy::grants() const {
  return static_cast<size_t>(std::count_if(grants_.begin(), grants_.end(),
                                           [](const auto& grant) { return grant.has_value(); }));
}

size_t Candidacy::grants_in_force(Instant now) const {
  size_t count = 0;
  for (size_t slot = 0; slot < grants_.size(); ++slot) count += is_in_force(slot, now) ? 1u : 0u;
  return count;
}

Instant Candidacy::next_change(Instant now) const {
  Instant next = kNever;
  for (const auto& grant : grants_) {
    if (!grant) continue;
    const Instant free = std::max(grant->boot_until, grant->waits.empty_at());
    if (free > now) next = std::min(next, free);
  }
  return next;
}

}  // namespace bellwether
