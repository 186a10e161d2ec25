// Lines of scenarios, and parts of them, about the network.
#include "simulator/network_faults.hh"

#include <iterator>
#include <vector>

namespace bellwether::simulator {

std::string NetworkFaults::link() {
  std::string words = "link latency=" + number(dice_.between(1, 20));
  if (dice_.happens(0.5)) words += " jitter=" + number(dice_.between(1, 20));
  if (dice_.happens(0.3)) words += " loss=0.0" + number(dice_.between(1, 9));
  if (dice_.happens(0.3)) words += " duplicate=0.0" + number(dice_.between(1, 9));
  return words;
}

std::string NetworkFaults::direction(uint32_t size) {
  const uint64_t from = dice_.between(1, size);
  const uint64_t to = (from + dice_.between(0, size - 2)) % size + 1;
  const std::string arrow = dice_.happens(0.3) ? "<->" : "->";
  switch (dice_.below(12)) {
    case 0:
      return "leader" + arrow + number(to);
    case 1:
      return number(from) + arrow + "leader";
    case 2:
      return "leader" + arrow + "others";
    case 3:
      return "others" + arrow + "leader";
    default:
      return number(from) + arrow + number(to);
  }
}

std::string NetworkFaults::partition(uint32_t size) {
  if (dice_.happens(0.2)) return "partition leader | others";
  std::vector<std::string> sides(dice_.between(2, 3));
  for (uint32_t node = 1; node <= size; ++node) {
    sides[dice_.below(sides.size())] += " " + number(node);
  }
  std::string words;
  for (const std::string& side : sides) {
    if (!side.empty()) words += (words.empty() ? "" : " |") + side;
  }
  return words.find('|') == std::string::npos ? "heal" : "partition" + words;
}

std::string NetworkFaults::drop(uint32_t size) { return "drop " + kind() + " " + direction(size); }

std::string NetworkFaults::kind() {
  static constexpr const char* kKinds[] = {"ELECTION", "ANSWER",  "HANDOVER",  "COORDINATOR",
                                           "REFUSAL",  "RESIGN",  "HEARTBEAT", "HEARTBEAT_ACK",
                                           "MEMBERS",  "CANVASS", "GRANT",     "CANVASS_REPLY"};
  return kKinds[dice_.below(std::size(kKinds))];
}

std::string NetworkFaults::proxies_at_start(uint32_t size) {
  if (!random_.happens(0.25)) return "";
  const uint64_t first = random_.between(1, size);
  behind_proxies_ = random_.happens(0.5)
                        ? everybody(size)
                        : number(first) + ".." + number(random_.between(first, size));
  return "proxy " + behind_proxies_ + " up\n";
}

std::string NetworkFaults::proxies_next() {
  if (behind_proxies_.empty() || !random_.happens(0.3)) return "";
  line("proxy " + behind_proxies_ + " down");
  line("wait " + number(random_.below(100)));
  if (random_.happens(0.8)) line("proxy " + behind_proxies_ + " up");
  return take_lines();
}

std::string NetworkFaults::at_end() const {
  return "link latency=1 jitter=0 loss=0 duplicate=0\nheal\n" +
         (behind_proxies_.empty() ? "" : "proxy " + behind_proxies_ + " up\n");
}

}  // namespace bellwether::simulator
