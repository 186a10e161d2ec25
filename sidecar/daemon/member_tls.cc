// The rules of members, and what a secret is in place of certificates.
#include "daemon/member_tls.hh"

#include <algorithm>
#include <utility>

#include "io/tls/guarded_file.hh"

namespace bellwether::daemon {
namespace {

using io::TlsContext;
using io::TlsContextPtr;
using io::TlsError;

// A name for many: "_bellwether._tcp.orders.shop.svc" stands for hosts of orders.shop.svc.
std::string host_of(const HostPort& place) {
  std::string host = place.host;
  while (host.starts_with('_')) host.erase(0, std::min(host.find('.'), host.size() - 1) + 1);
  return host;
}

io::MemberRules rules_of(const Config& config) {
  io::MemberRules rules{.members = config.tls.members};
  for (const auto& [name, address] : config.voters) rules.hosts.push_back(address.host);
  for (const HostPort& peer : config.membership.peers) rules.hosts.push_back(peer.host);
  if (!config.membership.dns.is_none()) rules.hosts.push_back(host_of(config.membership.dns));
  std::ranges::sort(rules.hosts);
  rules.hosts.erase(std::unique(rules.hosts.begin(), rules.hosts.end()), rules.hosts.end());
  return rules;
}

CertificateFiles files_of(const TlsSettings& settings) {
  return {.keys = "tls.",
          .cert = settings.cert,
          .key = settings.key,
          .ca = settings.ca,
          .is_folder_shared = settings.is_folder_shared};
}

void read(const TlsSettings& settings, io::TlsTexts& texts) {
  if (settings.secret_file.empty()) return read_files(files_of(settings), texts);
  texts.secret = io::read_guarded_file(settings.secret_file, "tls.secret_file",
                                       io::secret_in(settings.is_folder_shared), &texts.marks);
}

// No name has a tab or a line's end in it.
TlsSource source_of(const io::MemberRules& rules, const Config& config) {
  TlsSource source{.files = paths_of(files_of(config.tls)), .settings = config.group.name};
  if (config.tls.is_folder_shared) source.settings += "\tshared";
  if (!config.tls.secret_file.empty()) source.files = {config.tls.secret_file};
  for (const std::string& member : rules.members) source.settings += "\n" + member;
  source.settings += "\n";
  for (const std::string& host : rules.hosts) source.settings += "\n" + host;
  return source;
}

// The names of this node's certificate if another voter could have the same.
std::string names_for_all(const io::CertificateSet& set, const Config& config) {
  const io::CertificateNames names = io::described(set.cert.get()).names;
  const bool is_for_all = std::ranges::all_of(config.voters, [&](const auto& voter) {
    return !io::judge_voter(names, voter.second.host, names);
  });
  return config.voters.size() > 1 && is_for_all ? names.text() : "";
}

// Without tls.members a certificate is for one of the hosts that are configured.  A file may leave
// its own host out, under which others know this member; so it counts here.
std::string flaw_for_others(const io::PeerCertificate& own, io::MemberRules rules,
                            const Config& config) {
  if (rules.hosts.empty()) return "";
  rules.hosts.push_back(config.node.advertise.host);
  const auto flaw = io::judge_member(own, rules);
  return flaw ? flaw->text : "";
}

TlsContextPtr make_context(const Config& config, const io::TlsTexts& texts, io::MemberRules rules,
                           TlsReading& reading) {
  if (!config.tls.secret_file.empty()) {
    try {
      return TlsContext::of_members(io::parse_group_secret(texts.secret, config.group.name));
    } catch (const TlsError& error) {
      throw TlsError("tls.secret_file " + config.tls.secret_file + " " + error.what());
    }
  }
  const io::CertificateSet set = io::parse_certificate_set(texts, files_of(config.tls).labels());
  io::check_certificate_set(set, std::time(nullptr));
  const io::PeerCertificate own = io::described(set.cert.get());
  rules.trust_domain = io::trust_domain_of(own.names);
  const auto refuse = [&](const io::TlsFlaw& flaw) {
    throw TlsError(set.labels.cert + " would be refused: " + flaw.text);
  };
  // What peers with the same rules would say of it.
  const auto flaw = io::judge_member(own, rules);
  if (flaw && !rules.members.empty()) refuse(*flaw);
  // The hosts of others tell nothing of this one, but a voter's is known to all.
  if (const auto voter = config.voters.find(config.node.name); voter != config.voters.end()) {
    const auto wrong = io::judge_voter(own.names, voter->second.host, own.names);
    if (wrong) refuse(*wrong);
  }
  reading.refusal_by_members = flaw_for_others(own, rules, config);
  reading.names_of_any_voter = names_for_all(set, config);
  return TlsContext::of_members(set, std::move(rules));
}

TlsFiles::Read reader_of(const std::shared_ptr<const Config>& config) {
  return [config](const TlsReading& last) { return read_member_tls(*config, last); };
}

}  // namespace

TlsReading read_member_tls(const Config& config, const TlsReading& last) {
  if (config.tls.mode == TlsMode::kOff) return {.fingerprint = "off"};
  const io::MemberRules rules = rules_of(config);
  return read_tls(
      last, source_of(rules, config), [&](io::TlsTexts& texts) { read(config.tls, texts); },
      [&](const io::TlsTexts& texts, TlsReading& reading) {
        reading.tls = make_context(config, texts, rules, reading);
      });
}

MemberTls::MemberTls(io::Loop& loop, const Config& config, std::function<void()> on_change)
    : config_(std::make_shared<const Config>(config)),
      files_(loop, reader_of(config_), std::move(on_change)) {}

void MemberTls::configure(const Config& config, const std::map<std::string, HostPort>& voters) {
  Config wanted = config;
  if (voters != config.voters) {
    for (const auto& [name, address] : voters) wanted.membership.peers.push_back(address);
  }
  if (wanted.tls == config_->tls && wanted.membership == config_->membership) return;
  config_ = std::make_shared<const Config>(std::move(wanted));
  files_.set_read(reader_of(config_));
}

// The mode can change without the files: a group that has lost its secret gets to another one so.
std::optional<io::LinkSecurity> MemberTls::in_force() const {
  if (!files_.have_been_of_use()) return std::nullopt;
  const io::TlsContextPtr tls = files_.in_force();
  io::LinkSecurity security{.tls = tls,
                            .takes_plain = tls == nullptr || config_->tls.mode != TlsMode::kStrict};
  if (config_->has_majority_guard()) {
    security.voters.insert(config_->voters.begin(), config_->voters.end());
  }
  return security;
}

}  // namespace bellwether::daemon
