// The handler finds the page in a table that needs no lock.
#include "io/flag/rescued_page.hh"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "base/check.hh"

namespace bellwether::io {
namespace {

struct Place {
  std::atomic<char*> begin = nullptr;  // nullptr: nobody's
  std::atomic<size_t> bytes = 0;
  std::atomic<bool> is_lost = false;
};
std::array<Place, 4> places;

bool rescue(const char* address) {
  for (Place& place : places) {
    char* const begin = place.begin;
    if (begin == nullptr || address < begin || address >= begin + place.bytes) continue;
    place.is_lost = true;
    return ::mmap(begin, place.bytes, PROT_READ | PROT_WRITE,
                  MAP_FIXED | MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
  }
  return false;
}

// What was sent by a process, or is about another page, ends this one as it always did.
void on_bus_error(int signal, siginfo_t* info, void* /*context*/) {
  const int errno_before = errno;
  const bool is_rescued = info->si_code > 0 && rescue(static_cast<const char*>(info->si_addr));
  errno = errno_before;
  if (is_rescued) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void install_handler() {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace

RescuedPage::RescuedPage(void* page, size_t bytes) {
  install_handler();  // each time: another library may have put its own in between
  while (place_ < places.size() && places.at(place_).begin != nullptr) ++place_;
  check(place_ < places.size(), "few pages are rescued at a time");
  Place& place = places.at(place_);
  place.is_lost = false;
  place.bytes = bytes;
  place.begin = static_cast<char*>(page);
}

RescuedPage::~RescuedPage() { places.at(place_).begin = nullptr; }

bool RescuedPage::is_lost() const { return places.at(place_).is_lost; }

}  // namespace bellwether::io
