// Runs an event loop until everything is answered, or it is too late.
#include "doctor/name_look.hh"

#include "io/loop/timer.hh"
#include "io/names/resolver.hh"

namespace bellwether::doctor {

void look_up(std::vector<NameFacts>& names, Duration limit) {
  Loop loop;
  Resolver resolver(loop);
  size_t open = 0;
  std::vector<Lookup> lookups;
  for (NameFacts& name : names) {
    if (const auto address = SocketAddress::from_numeric(name.place)) {
      name.addresses.push_back(address->text());
      continue;
    }
    ++open;
    name.error = "no answer in time";
    lookups.push_back(resolver.look_up(name.place, [&](const NameAnswer& answer) {
      name.error = answer.error;
      for (const SocketAddress& address : answer.addresses) {
        name.addresses.push_back(address.text());
      }
      if (--open == 0) loop.stop();
    }));
  }
  if (open == 0) return;
  LoopTimer patience(loop, [&loop] { loop.stop(); });
  patience.arm(limit);
  loop.run();
}

}  // namespace bellwether::doctor
