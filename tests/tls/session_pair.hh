// Two sessions, and what one says to the other handed over in pieces, or changed on its way.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "certificate_maker.hh"
#include "io/tls/tls_session.hh"

namespace bellwether::io::test {

using Context = TlsContextPtr;

inline Context context_of(const TlsTexts& texts, MemberRules rules) {
  return TlsContext::of_members(parse_certificate_set(texts, {}), std::move(rules));
}

inline MemberRules any_of_shop() {
  return {.members = {"*.orders.shop"}, .hosts = {}, .trust_domain = ""};
}

inline Context member(const Authority& authority, const CertificateWish& wish,
                      const MemberRules& rules = any_of_shop()) {
  TlsTexts texts;
  authority.issue(wish, texts);
  return context_of(texts, rules);
}

inline Context with_secret(const std::string& file, const std::string& group = "orders") {
  return TlsContext::of_members(parse_group_secret(file, group));
}

// One side, and what it has heard.
struct Side {
  Side(const Context& context, TlsSide side, const std::string& server = "")
      : session(context, side, server) {
    session.begin();
  }

  void take(std::string_view bytes) {
    session.receive(bytes);
    std::array<char, 1024> buffer{};
    while (const size_t count = session.read(buffer)) heard.append(buffer.data(), count);
  }
  std::string give() {
    std::string bytes = session.output();
    session.clear_output();
    return bytes;
  }

  TlsSession session;
  std::string heard;
};

// Both, and what stands between them.
struct SessionPair {
  // May change what goes to this side.
  using Meddler = std::function<void(TlsSide to, std::string& bytes)>;

  // `name`: whom the client has called.
  SessionPair(const Context& from, const Context& to, const std::string& name = "")
      : client(from, TlsSide::kClient, name), server(to, TlsSide::kServer) {}

  // Until neither has anything to say; `step` bytes at a time.
  void run(size_t step = 1 << 20) {
    for (bool is_quiet = false; !is_quiet;) {
      std::string to_server = client.give();
      std::string to_client = server.give();
      is_quiet = to_server.empty() && to_client.empty();
      if (meddler) {
        meddler(TlsSide::kServer, to_server);
        meddler(TlsSide::kClient, to_client);
      }
      hand_over(to_server, server, step);
      hand_over(to_client, client, step);
    }
  }
  static void hand_over(std::string_view bytes, Side& to, size_t step) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(step, bytes.size()))) {
      to.take(bytes.substr(0, step));
    }
  }

  Side client;
  Side server;
  Meddler meddler{};
};

}  // namespace bellwether::io::test
