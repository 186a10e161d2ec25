// Lines of scenarios about the store.
#include "simulator/store_faults.hh"

#include <iterator>

namespace bellwether::simulator {
namespace {

constexpr const char* kStoreLeases[] = {" lease=1s", " lease=2s", " lease=5s"};
constexpr const char* kWays[] = {"lost_requests=0.2",
                                 "lost_answers=0.2",
                                 "lost_requests=0.1 lost_answers=0.1",
                                 "repeated=0.3",
                                 "old_reads=0.4",
                                 "latency=80 jitter=400",
                                 "latency=1 jitter=2000",
                                 "latency=1 jitter=0 lost_requests=0 lost_answers=0 old_reads=0"};

}  // namespace

std::string StoreFaults::settings() {
  has_proof_ = random_.happens(0.5);
  return std::string(" guard=store") + kStoreLeases[random_.below(std::size(kStoreLeases))] +
         (has_proof_ ? " death_proof=refused" : "");
}

std::string StoreFaults::now_and_then(uint32_t size) {
  return random_.happens(0.4) ? fault(size) + "\n" : "";
}

std::string StoreFaults::fault(uint32_t size) {
  switch (random_.below(12)) {
    case 0:
    case 1:
    case 2:
      return std::string("store ") + kWays[random_.below(std::size(kWays))];
    case 3:
      return "store cut " + (random_.happens(0.5) ? "leader" : any(size));
    case 4:
      return "store heal";
    case 5:
      return random_.happens(0.5) ? "store down" : "store up";
    case 6:
      return "store up";
    case 7:
      return "store deleted";
    case 8:
      return "store emptied";
    case 9:
      return "store shortened";
    case 10:
      if (random_.happens(0.5)) return "store stranger off";
      return random_.happens(0.5) ? "store stranger on" : twin(size);
    default:
      return "wait " + number(random_.below(3000));
  }
}

// While the group is down it comes to lead, for which it waits as anybody does.
std::string StoreFaults::twin(uint32_t size) {
  const std::string all = everybody(size);
  return "kill " + all + "\nstore twin " + any(size) + "\nwait 13s\nstart " + all;
}

std::string StoreFaults::at_end() {
  return "store heal\nstore up\nstore stranger off\n"
         "store latency=1 jitter=0 lost_requests=0 lost_answers=0 repeated=0 old_reads=0\n";
}

}  // namespace bellwether::simulator
