// What TLS between members costs, in this process alone: one handshake, and 200 members that link
// to one at once.  The latter share a thread with it, so they take about twice as long as on
// machines of their own.
//
// usage: tls_price [ROUNDS]      prints Markdown; tls.py runs it
#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "session_pair.hh"
#include "transport_harness.hh"

namespace bellwether::io::test {
namespace {

using Links = std::vector<std::unique_ptr<Process>>;

constexpr uint8_t kMembers = 200;

struct Kind {
  const char* name;
  Context tls;  // nullptr: plain
};

std::vector<Kind> kinds() {
  const Authority authority("bench");
  const auto certificate = [&](int rsa_bits) {
    return member(authority, {.names = {"DNS:orders-0.orders.shop"}, .rsa_bits = rsa_bits});
  };
  return {{"plain", nullptr},
          {"secret", with_secret(make_group_secret())},
          {"certificates, P-256", certificate(0)},
          {"certificates, RSA-2048", certificate(2048)}};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Milliseconds.
double time_on(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

template <typename Work>
double cost_of(Work&& work) {
  const double before = time_on(CLOCK_THREAD_CPUTIME_ID);
  work();
  return time_on(CLOCK_THREAD_CPUTIME_ID) - before;
}

// --- one handshake ---

struct Handshake {
  double client = 0;
  double server = 0;
};

Handshake shake_hands(const Context& tls) {
  Handshake cost;
  std::unique_ptr<Side> client;
  std::unique_ptr<Side> server;
  cost.client += cost_of([&] { client = std::make_unique<Side>(tls, TlsSide::kClient); });
  cost.server += cost_of([&] { server = std::make_unique<Side>(tls, TlsSide::kServer); });
  for (bool is_quiet = false; !is_quiet;) {
    const std::string up = client->give();
    const std::string down = server->give();
    is_quiet = up.empty() && down.empty();
    cost.server += cost_of([&] { server->take(up); });
    cost.client += cost_of([&] { client->take(down); });
  }
  if (!server->session.is_established()) throw std::runtime_error("no handshake");
  return cost;
}

void print_handshakes(const std::vector<Kind>& all, size_t rounds) {
  fmt::print("| one handshake | client, CPU | server, CPU |\n|---|---:|---:|\n");
  for (const Kind& kind : all) {
    if (kind.tls == nullptr) continue;
    std::vector<double> clients;
    std::vector<double> servers;
    for (size_t i = 0; i < 20 * rounds; ++i) {
      const Handshake cost = shake_hands(kind.tls);
      clients.push_back(cost.client);
      servers.push_back(cost.server);
    }
    fmt::print("| {} | {:.2f} ms | {:.2f} ms |\n", kind.name, median(clients), median(servers));
  }
}

// --- 200 at once ---

struct Reunion {
  double first = 0;  // from the first try to connect
  double again = 0;  // since all links have ended
  size_t waits = 0;  // of strangers, for the handshakes of others
};

class Meeting {
 public:
  explicit Meeting(const Context& tls) {
    const LinkSecurity security{.tls = tls, .takes_plain = tls == nullptr};
    for (uint8_t i = 0; i < kMembers; ++i) {
      const auto byte = static_cast<uint8_t>(i + 2);
      others_.push_back(std::make_unique<Process>(loop_, resolver_, byte));
      others_.back()->transport().set_security(security);
    }
    one_.transport().set_security(security);
  }

  Reunion take_place() {
    Reunion times;
    times.first = until_all_are_linked([&] {
      for (const auto& other : others_) other->look_for({one_.place()});
    });
    times.again = until_all_are_linked([&] {
      for (const auto& other : others_) one_.transport().end_link(other->id());
      run_until(loop_, [&] { return !one_.downs.empty(); });
    });
    times.waits = static_cast<size_t>(std::ranges::count(one_.limits, Limit::kHandshakes));
    return times;
  }

 private:
  template <typename Begin>
  double until_all_are_linked(Begin&& begin) {
    const double before = time_on(CLOCK_MONOTONIC);
    begin();
    const bool is_done = run_until(loop_, [&] {
      return std::ranges::all_of(others_, [&](const auto& other) {
        return other->is_linked_to(one_) && one_.is_linked_to(*other);
      });
    });
    if (!is_done) throw std::runtime_error("not all are linked within 10 s");
    return time_on(CLOCK_MONOTONIC) - before;
  }

  Loop loop_;
  Resolver resolver_{loop_};
  Process one_{loop_, resolver_, 1};
  Links others_;
};

void print_meetings(const std::vector<Kind>& all, size_t rounds) {
  fmt::print(
      "\n| {} members and one | linked first | linked again | waits of strangers |\n"
      "|---|---:|---:|---:|\n",
      kMembers);
  for (const Kind& kind : all) {
    std::vector<double> firsts;
    std::vector<double> agains;
    std::vector<double> waits;
    for (size_t i = 0; i < rounds; ++i) {
      const Reunion times = Meeting(kind.tls).take_place();
      firsts.push_back(times.first);
      agains.push_back(times.again);
      waits.push_back(static_cast<double>(times.waits));
    }
    fmt::print("| {} | {:.0f} ms | {:.0f} ms | {:.0f} |\n", kind.name, median(firsts),
               median(agains), median(waits));
  }
}

}  // namespace

void print_prices(size_t rounds) {
  const std::vector<Kind> all = kinds();
  print_handshakes(all, rounds);
  print_meetings(all, rounds);
}

}  // namespace bellwether::io::test

int main(int count, char** arguments) {
  constexpr size_t kRounds = 10;
  signal(SIGPIPE, SIG_IGN);
  bellwether::io::test::print_prices(count > 1 ? std::stoul(arguments[1]) : kRounds);
}
