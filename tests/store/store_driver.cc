// A StoreClient that does what the lines on its standard input say, and prints a line of JSON for
// each thing that it is told; so a script can lead it before real servers.
//
//   read PATIENCE_MS
//   write PATIENCE_MS VERSION|- HOLDER EPOCH LEASE_MS [NAME UUID]    HOLDER: unknown, released,
//   member watch on|off secure            reads the files again wait NUMBER       prints {"slept":
//   NUMBER} in so many ms
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <boost/uuid/string_generator.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <map>
#include <sstream>
#include <string>

#include "base/json.hh"
#include "io/loop/loop.hh"
#include "io/loop/timer.hh"
#include "io/names/resolver.hh"
#include "io/store/etcd_record.hh"
#include "io/store/kubernetes_lease.hh"
#include "io/store/store_client.hh"
#include "io/tls/certificates.hh"
#include "io/tls/guarded_file.hh"

namespace bellwether::io {
namespace {

using std::chrono::milliseconds;

void print(const Json& json) {
  fmt::print("{}\n", dump(json));
  std::fflush(stdout);
}

Json to_json(const StoreSight& sight) {
  constexpr std::array kHolders{"unknown", "released", "member", "stranger"};
  if (sight.version.empty()) return nullptr;
  const StoreRecord& record = sight.record;
  return {{"version", sight.version},
          {"holder", kHolders.at(static_cast<size_t>(record.holder))},
          {"id", to_string(record.id)},
          {"name", record.name},
          {"epoch", record.epoch},
          {"lease_ms", std::chrono::floor<milliseconds>(record.lease).count()}};
}

struct Printer : StoreListener {
  void on_store_seen(uint64_t number, const StoreSight& sight) override {
    print({{"seen", number}, {"record", to_json(sight)}});
  }
  void on_store_written(uint64_t number, const StoreVersion& version) override {
    print({{"written", number}, {"version", version}});
  }
  void on_store_conflict(uint64_t number, const std::optional<StoreSight>& found) override {
    Json json{{"conflict", number}};
    if (found) json["record"] = to_json(*found);
    print(json);
  }
  void on_store_failed(uint64_t number, StoreFailure failure, Duration retry_after) override {
    print({{"failed", number},
           {"why", name(failure)},
           {"retry_after_ms", std::chrono::floor<milliseconds>(retry_after).count()},
           {"trouble", client->condition().trouble},
           {"server", client->condition().server}});
  }
  void on_store_request(const StoreRequestReport& report) override {
    print({{"request", name(report.verb)},
           {"result",
            report.failure ? name(*report.failure) : (report.is_conflict ? "conflict" : "done")},
           {"us", std::chrono::floor<std::chrono::microseconds>(report.took).count()}});
  }

  StoreClient* client = nullptr;
};

// What the command line says: KIND and KEY=VALUE.
struct Wish {
  std::string of(const std::string& key) const {
    const auto found = values.find(key);
    return found == values.end() ? "" : found->second;
  }
  std::map<std::string, std::string> values;
};

std::unique_ptr<StoreDialect> dialect_of(const std::string& kind, const Wish& wish) {
  if (kind == "etcd") {
    EtcdSettings settings{
        .key = wish.of("key"), .user = wish.of("user"), .password_name = wish.of("secret_file")};
    std::istringstream endpoints(wish.of("endpoints"));
    for (std::string url; endpoints >> url;) settings.endpoints.push_back(url);
    return etcd_record(settings);
  }
  return kubernetes_lease({.server = wish.of("server"),
                           .namespace_name = wish.of("namespace"),
                           .lease_name = wish.of("lease_name"),
                           .token_name = wish.of("secret_file")});
}

StoreSecurity security_of(const Wish& wish) {
  StoreSecurity security;
  try {
    if (!wish.of("secret_file").empty()) {
      SecretText text = read_guarded_file(wish.of("secret_file"), "secret_file", Secrecy::kShared);
      while (!text.empty() && text.back() == '\n') text.pop_back();
      security.secret = Secret(text);
    }
    if (!wish.of("ca").empty()) {
      TlsTexts texts;
      texts.ca = read_guarded_file(wish.of("ca"), "ca", Secrecy::kShared);
      CertificateSet set;
      set.ca = parse_certificates(texts.ca, "ca");
      security.tls = TlsContext::of_http_client(set);
    }
  } catch (const std::exception& error) {
    security.flaw = error.what();
  }
  return security;
}

class Driver {
 public:
  Driver(const std::string& kind, const Wish& wish)
      : wish_(wish),
        client_(loop_, resolver_, dialect_of(kind, wish), printer_, 1),
        sleep_(loop_,
               [this] {
                 print({{"slept", slept_}});
               }),
        input_(make_handle(loop_.uv(), this, uv_pipe_init, 0)) {
    printer_.client = &client_;
    client_.secure(security_of(wish_));
    throw_if_failed(uv_pipe_open(input_.get(), STDIN_FILENO), "cannot read the standard input");
  }

  void run() {
    uv_read_start(
        reinterpret_cast<uv_stream_t*>(input_.get()),
        [](uv_handle_t* handle, size_t, uv_buf_t* buffer) {
          auto& bytes = static_cast<Driver*>(handle->data)->bytes_;
          *buffer = uv_buf_init(bytes.data(), static_cast<unsigned>(bytes.size()));
        },
        [](uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
          auto* self = static_cast<Driver*>(stream->data);
          if (count < 0) return self->loop_.stop();
          self->take({buffer->base, static_cast<size_t>(count)});
        });
    loop_.run();
  }

 private:
  void take(std::string_view bytes) {
    text_ += bytes;
    for (size_t end = 0; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1)) {
      obey(text_.substr(0, end));
    }
  }

  void obey(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    int64_t patience_ms = 0;
    words >> verb;
    if (verb == "read") {
      words >> patience_ms;
      client_.read(++number_, milliseconds(patience_ms));
    } else if (verb == "write") {
      std::string version;
      std::string holder;
      std::string id;
      int64_t lease_ms = 0;
      StoreRecord record;
      words >> patience_ms >> version >> holder >> record.epoch >> lease_ms >> record.name >> id;
      record.lease = milliseconds(lease_ms);
      if (!id.empty()) record.id = boost::uuids::string_generator()(id);
      if (holder == "member") record.holder = StoreRecord::Holder::kMember;
      if (holder == "released") record.holder = StoreRecord::Holder::kReleased;
      client_.write(++number_, milliseconds(patience_ms), version == "-" ? "" : version, record);
    } else if (verb == "watch") {
      std::string is_wanted;
      words >> is_wanted;
      client_.watch(is_wanted == "on");
    } else if (verb == "secure") {
      client_.secure(security_of(wish_));
    } else if (verb == "wait") {
      words >> slept_;
      sleep_.arm(milliseconds(slept_));
    } else {
      fmt::print(stderr, "no such word: {}\n", verb);
    }
  }

  Loop loop_;
  Resolver resolver_{loop_};
  Wish wish_;
  Printer printer_;
  StoreClient client_;
  LoopTimer sleep_;
  int64_t slept_ = 0;
  uint64_t number_ = 0;
  std::string text_;
  std::array<char, 4096> bytes_{};
  UvPtr<uv_pipe_t> input_;
};

}  // namespace
}  // namespace bellwether::io

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  bellwether::io::Wish wish;
  for (int i = 2; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    wish.values[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  bellwether::io::Driver(argv[1], wish).run();
}
