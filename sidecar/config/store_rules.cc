// What must hold where a store decides who leads, and between the guards.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/duration_text.hh"
#include "config/config_rules.hh"
#include "config/keys.hh"
#include "config/text_forms.hh"

namespace bellwether {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kShortestStoreLease = seconds(2);
constexpr Duration kLongestOtherLease = seconds(10);
constexpr Duration kShortestRenewInterval = milliseconds(100);

void judge_one_guard(Judge& judge) {
  std::vector<std::string> tables;
  for (const char* table : {kVotersTable, kKubernetesTable, kEtcdTable}) {
    if (judge.is_given(table)) tables.emplace_back(table);
  }
  if (tables.size() < 2) return;
  judge.object_to(tables.back(), {kVotersTable, kKubernetesTable, kEtcdTable},
                  fmt::format("[{}] and [{}] would both decide who leads", tables[0], tables[1]),
                  "keep one of [voters], [kubernetes] and [etcd], the same for all members");
}

void judge_lease(Judge& judge) {
  const ElectionSettings& election = judge.config().election;
  const std::string lease = duration_text(election.lease);
  const bool has_store = judge.config().has_store_guard();
  if (has_store && election.lease < kShortestStoreLease) {
    judge.object({"election.lease"},
                 lease + " is shorter than a store and what is in between may be silent for",
                 "give at least " + duration_text(kShortestStoreLease) + ", or leave it out");
  }
  if (!has_store && election.lease > kLongestOtherLease) {
    judge.object({"election.lease"},
                 lease + " is longer than leadership among members can hold without renewal",
                 "give at most " + duration_text(kLongestOtherLease) +
                     ", or let [kubernetes] or [etcd] decide");
  }
  if (!has_store) {
    if (election.renew_interval == Duration::zero()) return;
    return judge.object({"election.renew_interval"},
                        "has no effect without [kubernetes] or [etcd]: there is nothing to renew",
                        "remove it");
  }
  // Of the 4/5 that a leader counts on.
  const Duration most = election.lease * 2 / 5;
  if (election.renew_interval < kShortestRenewInterval || election.renew_interval > most) {
    judge.object(
        {"election.renew_interval", "election.lease"},
        fmt::format("renew_interval {} {}", duration_text(election.renew_interval),
                    election.renew_interval > most
                        ? "leaves no time for a second try before lease " + lease + " ends"
                        : "is a burden to the store"),
        fmt::format("give {} to {}, or leave it out", duration_text(kShortestRenewInterval),
                    duration_text(std::chrono::floor<milliseconds>(most))));
  }
}

// What two tables have alike, with the names of their keys.
struct ClientKeys {
  const char* place;
  const char* cert;
  const char* key;
  const char* insecure;
};
constexpr ClientKeys kKubernetesKeys{"kubernetes.server", "kubernetes.cert", "kubernetes.key",
                                     "kubernetes.insecure"};
constexpr ClientKeys kEtcdKeys{"etcd.endpoints", "etcd.cert", "etcd.key", "etcd.insecure"};

void judge_client(Judge& judge, const ClientKeys& keys, const std::vector<std::string>& servers,
                  const std::string& cert, const std::string& key, bool is_insecure) {
  if (cert.empty() != key.empty()) {
    judge.object({keys.cert, keys.key},
                 fmt::format("{} and {} belong together", keys.cert, keys.key),
                 fmt::format("give {}, or neither", cert.empty() ? keys.cert : keys.key));
  }
  const auto is_open = [](const std::string& url) {
    return !url.starts_with("https://") && !place_of_url(url).is_loopback();
  };
  const auto open = std::ranges::find_if(servers, is_open);
  if (open == servers.end() || is_insecure) return;
  judge.object({keys.place, keys.insecure},
               *open +
                   " is not on this host, and without TLS everybody on the way can change who "
                   "leads",
               fmt::format("give an https:// URL, or {} = \"on\"", keys.insecure));
}

void judge_kubernetes(Judge& judge) {
  const KubernetesSettings& kubernetes = judge.config().kubernetes;
  if (!kubernetes.is_used) return;
  if (!is_object_name(kubernetes.lease_name)) {
    judge.object(
        {"kubernetes.lease_name", "group.name"},
        "the group's name, " + toml_text(kubernetes.lease_name) + ", cannot be that of a Lease",
        "give kubernetes.lease_name, of lower-case letters, digits, '-' and '.'");
  }
  if (kubernetes.server.empty()) {
    judge.object({"kubernetes.server"},
                 "is not known: KUBERNETES_SERVICE_HOST is not set, as it is in a pod",
                 "give kubernetes.server, ca and token_file, or run it in a pod");
  }
  if (!is_namespace_name(kubernetes.namespace_name)) {
    judge.object({"kubernetes.namespace"},
                 kubernetes.namespace_name.empty()
                     ? fmt::format("is not known: there is no {}namespace", kServiceAccount)
                     : "what the pod says is none: " + toml_text(kubernetes.namespace_name),
                 "give kubernetes.namespace");
  }
  judge_client(judge, kKubernetesKeys, {kubernetes.server}, kubernetes.cert, kubernetes.key,
               kubernetes.is_insecure || kubernetes.server.empty());
}

void judge_etcd(Judge& judge) {
  const EtcdSettings& etcd = judge.config().etcd;
  if (!etcd.is_used) return;
  if (etcd.endpoints.empty()) {
    judge.object({"etcd.endpoints"}, "names nobody",
                 "give the URLs of etcd's members, like [\"https://etcd-0:2379\"]");
  }
  for (size_t i = 1; i < etcd.endpoints.size(); ++i) {
    const auto end = etcd.endpoints.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(etcd.endpoints.begin(), end, *end) == end) continue;
    judge.object({"etcd.endpoints"}, *end + " is named twice", "remove one of them");
  }
  if (etcd.user.empty() != etcd.password_file.empty()) {
    judge.object({"etcd.user", "etcd.password_file"}, "user and password_file belong together",
                 std::string("give etcd.") + (etcd.user.empty() ? "user" : "password_file") +
                     ", or neither");
  }
  judge_client(judge, kEtcdKeys, etcd.endpoints, etcd.cert, etcd.key, etcd.is_insecure);
}

}  // namespace

void judge_guard(Judge& judge) {
  judge_one_guard(judge);
  judge_lease(judge);
  judge_kubernetes(judge);
  judge_etcd(judge);
}

}  // namespace bellwether
