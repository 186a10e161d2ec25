// What one side of a TLS connection shows, whom it believes, and by which rules: made once of files
// that fit together, then shared by all connections that are made with it, and never changed.
#pragma once

#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/tls/certificates.hh"
#include "io/tls/group_secret.hh"
#include "io/tls/member_rules.hh"
#include "io/tls/openssl.hh"

namespace bellwether::io {

class TlsContext;
// All connections that were made with it share it.
using TlsContextPtr = std::shared_ptr<const TlsContext>;

class TlsContext {
 public:
  using Judge = std::function<std::optional<TlsFlaw>(const PeerCertificate&)>;

  // Between the members of a group: TLS 1.3 alone, both sides known to each other, nothing resumed.
  // By certificates; the set was checked.
  static TlsContextPtr of_members(const CertificateSet& set, MemberRules rules);
  // By the secret of the group; at least one key.
  static TlsContextPtr of_members(std::vector<GroupKey> keys);

  ~TlsContext() = default;
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  SSL_CTX* get() const { return context_.get(); }
  // Whether a peer whose chain was verified is welcome; nothing: it is.
  std::optional<TlsFlaw> judge(const PeerCertificate& peer) const;
  // Equal where the same is shown, and the same authorities or secrets are believed; the rules may
  // differ.
  const std::string& material() const { return material_; }
  bool has_secret() const { return !keys_.empty(); }
  const std::vector<GroupKey>& keys() const { return keys_; }
  // What both must speak inside (ALPN); empty: anything.
  const std::string& protocol() const { return protocol_; }
  // Since when what it shows is valid, and when it is over, in seconds since 1970; nothing where it
  // shows no certificate.
  std::optional<std::time_t> beginning() const { return beginning_; }
  std::optional<std::time_t> expiry() const { return expiry_; }

 private:
  explicit TlsContext(std::string protocol);

  void require_tls_1_3() const;
  void show(const CertificateSet& set);

  SslContextPtr context_;
  std::string protocol_;
  std::string material_;
  std::vector<GroupKey> keys_;
  Judge judge_;
  std::optional<std::time_t> beginning_;
  std::optional<std::time_t> expiry_;
};

}  // namespace bellwether::io
