// Token or password and certificates are one reading, so that what is shown together was read
// together.
#include "daemon/store_files.hh"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/lines.hh"
#include "config/keys.hh"
#include "io/store/etcd_record.hh"
#include "io/store/kubernetes_lease.hh"
#include "io/tls/openssl.hh"

namespace bellwether::daemon {
namespace {

// The kubelet writes a pod's token as it likes, mostly readable by all; nobody else has its folder.
io::Secrecy secrecy_of(const std::string& path) {
  return path.starts_with("/var/run/secrets/") ? io::Secrecy::kShared : io::Secrecy::kSecret;
}

// What the two tables have alike.
ClientFiles files_of(const Config& config) {
  const auto certificates = [](const std::string& table, const auto& settings) {
    return CertificateFiles{
        .keys = table + ".", .cert = settings.cert, .key = settings.key, .ca = settings.ca};
  };
  if (config.guard_kind() == GuardKind::kEtcd) {
    return {.certificates = certificates(kEtcdTable, config.etcd),
            .is_https = config.etcd.is_https(),
            .secret_key = "etcd.password_file",
            .secret = config.etcd.password_file,
            .secrecy = secrecy_of(config.etcd.password_file)};
  }
  return {.certificates = certificates(kKubernetesTable, config.kubernetes),
          .is_https = config.kubernetes.is_https(),
          .secret_key = "kubernetes.token_file",
          .secret = config.kubernetes.token_file,
          .secrecy = secrecy_of(config.kubernetes.token_file)};
}

// The first line.  It goes into a header, or stands for a person: nothing else may be in it.
Secret secret_of(std::string_view text, const ClientFiles& files) {
  const std::string_view line = trimmed(text.substr(0, text.find('\n')));
  const bool is_visible = std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; });
  if (line.empty() || !is_visible) {
    throw io::TlsError(files.secret_key + " " + files.secret +
                       " has no line of visible characters at its beginning; write it there");
  }
  return Secret(line);
}

}  // namespace

StoreReading read_store_files(const Config& config, const StoreReading& last) {
  const ClientFiles files = files_of(config);
  StoreReading reading{.files = {}, .secret = last.secret};
  reading.files = read_client_tls(
      files, last.files, [&](std::string_view text) { reading.secret = secret_of(text, files); });
  return reading;
}

io::StoreSecurity to_security(const StoreReading& reading) {
  return {.tls = reading.files.tls, .secret = reading.secret, .flaw = reading.files.error};
}

std::unique_ptr<io::StoreDialect> make_store_dialect(const Config& config) {
  if (config.guard_kind() == GuardKind::kEtcd) {
    return io::etcd_record({.endpoints = config.etcd.endpoints,
                            .key = config.etcd.prefix + config.group.name,
                            .user = config.etcd.user,
                            .password_name = "etcd.password_file " + config.etcd.password_file});
  }
  return io::kubernetes_lease(
      {.server = config.kubernetes.server,
       .namespace_name = config.kubernetes.namespace_name,
       .lease_name = config.kubernetes.lease_name,
       .token_name = "kubernetes.token_file " + config.kubernetes.token_file});
}

}  // namespace bellwether::daemon
