// Every key: what it takes, and that it says what it is for.
#include "config/keys.hh"

#include <boost/test/unit_test.hpp>
#include <set>

#include "config/effective.hh"
#include "parse_harness.hh"

namespace {

using namespace bellwether::test;
using bellwether::config_keys;
using bellwether::ConfigKey;
using bellwether::effective_toml;
using bellwether::hook_keys;
using bellwether::HookSettings;
using bellwether::toml_text;

struct Good {
  const char* table;
  const char* key;
  const char* value;
  const char* printed = nullptr;  // null: as it is written
};

// A `name` other than orders-0 would be missing among the voters.
const Good kGood[] = {
    {"group", "name", R"("a")"},
    {"group", "name", R"("A9.b_c-d")"},
    {"group", "name", R"("${POD_NAME}")", R"("orders-0")"},
    {"node", "name", R"("orders-0")"},
    {"node", "priority", "0"},
    {"node", "priority", "65535"},
    {"node", "listen", R"("127.0.0.1:1")"},
    {"node", "listen", R"("[::]:65535")"},
    {"node", "advertise", R"("orders-0.orders.svc.:7946")"},
    {"node", "advertise", R"("${POD_IP}:7946")", R"("10.0.0.7:7946")"},
    {"node", "advertise", R"("[2001:db8::1]:7946")"},
    {"node", "state_dir", R"("/srv/$${x}/é")"},
    {"node", "memory_keeper", R"("off")"},
    {"node", "core_dumps", R"("on")"},
    {"node", "confine", R"("off")"},
    {"election", "plugin", R"("bully")"},
    {"election", "plugin", R"("./bellwether-mine.so")"},
    {"election", "profile", R"("wan")"},
    {"election", "variant", R"("classic")"},
    {"election", "preempt", R"("priority")"},
    {"election", "preempt", R"("never")"},
    {"election", "preempt_delay", R"("60s")", R"("1m")"},
    {"election", "death_proof", R"("refused")"},
    {"election", "answer_timeout", R"("250ms")"},
    {"election", "coordinator_timeout", R"("2s")"},
    {"election", "lease", R"("10000ms")", R"("10s")"},
    {"election", "renew_interval", R"("0s")"},
    {"failure_detector", "heartbeat_interval", R"("20ms")"},
    {"failure_detector", "suspect_after", R"("0750ms")", R"("750ms")"},
    {"membership", "peers", "[]"},
    {"membership", "peers", R"(["a:1", "${POD_IP}:2", "[::1]:3"])",
     R"(["a:1", "10.0.0.7:2", "[::1]:3"])"},
    {"membership", "dns", R"("")"},
    {"membership", "dns", R"("orders-headless.shop.svc:7946")"},
    {"membership", "reap_after", R"("36h")"},
    {"kubernetes", "lease_name", R"("orders.v2-a")"},
    {"kubernetes", "namespace", R"("shop-1")"},
    {"kubernetes", "server", R"("https://[fd00::1]:6443")"},
    {"kubernetes", "server", R"("http://127.0.0.1")"},
    {"kubernetes", "ca", R"("/etc/ca.crt")"},
    {"kubernetes", "token_file", R"("")"},
    {"kubernetes", "cert", R"("")"},
    {"kubernetes", "key", R"("")"},
    {"kubernetes", "insecure", R"("on")"},
    {"etcd", "endpoints", R"(["http://127.0.0.1:2379", "https://etcd"])"},
    {"etcd", "prefix", R"("a b/é")"},
    {"etcd", "ca", R"("/etc/ca.crt")"},
    {"etcd", "cert", R"("")"},
    {"etcd", "key", R"("")"},
    {"etcd", "insecure", R"("on")"},
    {"etcd", "user", R"("")"},
    {"etcd", "password_file", R"("")"},
    {"api", "listen", R"("localhost:4041")"},
    {"api", "socket", R"("/run/bellwether.sock")"},
    {"api", "token_file", R"("/etc/bellwether/tokens")"},
    {"api", "writes", R"("all")"},
    {"api", "allow_users", "[]"},
    {"api", "allow_groups", "[]"},
    {"api", "cert", R"("")"},
    {"api", "key", R"("")"},
    {"api", "client_ca", R"("")"},
    {"api", "shared_folder", R"("on")"},
    {"api", "insecure", R"("off")"},
    {"api", "insecure", "true", R"("on")"},
    {"api", "insecure", "false", R"("off")"},
    {"metrics", "listen", R"("")"},
    {"metrics", "listen", R"("[::1]:9464")"},
    {"metrics", "cert", R"("")"},
    {"metrics", "key", R"("")"},
    {"metrics", "client_ca", R"("")"},
    {"metrics", "shared_folder", R"("on")"},
    {"flag", "path", R"("/shm/flag")"},
    {"flag", "shared_folder", R"("on")"},
    {"flag", "mode", "0o600"},
    {"flag", "mode", "420", "0o644"},
    // One alone is right only where it is empty; rules_test.cc has the others.
    {"tls", "cert", R"("")"},
    {"tls", "key", R"("")"},
    {"tls", "ca", R"("")"},
    {"tls", "members", "[]"},
    {"tls", "secret_file", R"("/etc/bellwether/${POD_NAME}.secret")",
     R"("/etc/bellwether/orders-0.secret")"},
    {"tls", "shared_folder", R"("on")"},
    {"tls", "mode", R"("off")"},
    {"application", "attach", "true", R"("on")"},
    {"application", "grace", R"("2s")"},
    {"application", "health", R"("")"},
    {"application", "health", R"("http://127.0.0.1:8080/healthz")"},
    {"application", "health", R"("http://[::1]/")"},
    {"application", "health", R"("http://localhost:1/a?b=c")"},
    {"application", "health", R"("unix:/run/app/x.sock:/healthz")"},
    {"application", "health_interval", R"("2s")"},
    {"application", "health_timeout", R"("100ms")"},
    {"application", "health_failures", "1"},
    {"application", "drain_timeout", R"("1h")"},
    {"application", "score_margin", "4294967295"},
    {"log", "level", R"("trace")"},
    {"log", "level", R"("error")"},
    {"log", "format", R"("json")"},
};

// kSound with one more key, or with this value for one that it has.
std::string with(const std::string& table, const std::string& key, const std::string& value) {
  if (table == "kubernetes") return kSoundWithStore + "[kubernetes]\n" + key + " = " + value + "\n";
  if (table == "etcd") {
    const std::string endpoints = key == "endpoints" ? "" : "endpoints = [\"https://etcd\"]\n";
    return kSoundWithStore + "[etcd]\n" + key + " = " + value + "\n" + endpoints;
  }
  std::string text = kSound;
  if (const std::string old = table == "group" ? "\"orders\"" : "\"orders-0\"";
      key == "name" && (table == "group" || table == "node")) {
    const size_t at = table == "group" ? text.find(old) : text.rfind(old);
    return text.replace(at, old.size(), value);
  }
  const std::string line = key + " = " + value + "\n";
  return table == "node" ? text + line : text + "[" + table + "]\n" + line;
}

const ConfigKey<bellwether::Config>& find(const std::string& path) {
  for (const auto& key : config_keys()) {
    if (key.path() == path) return key;
  }
  throw std::invalid_argument("no key " + path);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(config_keys_table)

BOOST_AUTO_TEST_CASE(every_key_takes_what_is_good_for_it_and_gives_it_back) {
  std::set<std::string> seen;
  for (const Good& good : kGood) {
    const std::string path = std::string(good.table) + "." + good.key;
    BOOST_TEST_CONTEXT(path << " = " << good.value) {
      const auto parsed = parse(with(good.table, good.key, good.value));
      BOOST_TEST(toml_text(find(path).write(parsed.config)) ==
                 (good.printed == nullptr ? good.value : good.printed));
      BOOST_TEST(parsed.given.contains(path));
      BOOST_TEST((read_back(effective_toml(parsed)) == parsed.config));
    }
    seen.insert(path);
  }
  for (const auto& key : config_keys()) {
    BOOST_TEST(seen.contains(key.path()), "nothing good is tried for " << key.path());
  }
}

BOOST_AUTO_TEST_CASE(hooks_have_an_url_and_a_timeout) {
  const auto parsed = parse(kSound +
                            "[[hook]]\nurl = \"http://127.0.0.1:8080/x?y=1\"\n"
                            "[[hook]]\nurl = \"http://[::1]/\"\ntimeout = \"500ms\"\n");
  const std::vector<HookSettings> expected{{"http://127.0.0.1:8080/x?y=1", std::chrono::seconds(2)},
                                           {"http://[::1]/", std::chrono::milliseconds(500)}};
  BOOST_TEST((parsed.config.hooks == expected));
  BOOST_TEST(parsed.given.contains("hook[2].timeout"));
  BOOST_TEST(!parsed.given.contains("hook[1].timeout"));
}

BOOST_AUTO_TEST_CASE(every_key_says_what_it_is_for) {
  const auto judge = [](const auto& key) {
    BOOST_TEST_CONTEXT(key.path()) {
      BOOST_TEST(key.help.size() > 5);
      BOOST_TEST(key.expects.size() > 5);
      BOOST_TEST(!key.help.ends_with('.'));
    }
  };
  for (const auto& key : config_keys()) judge(key);
  for (const auto& key : hook_keys()) judge(key);
}

BOOST_AUTO_TEST_SUITE_END()
