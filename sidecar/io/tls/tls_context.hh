// What one side of a TLS connection shows, whom it believes, and by which rules: made once of files
// that fit together, then shared by all connections that are made with it, and never changed.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/tls/certificates.hh"
#include "io/tls/group_secret.hh"
#include "io/tls/member_rules.hh"
#include "io/tls/openssl.hh"
#include "io/tls/remedies.hh"

namespace bellwether::io {

// Whether a server wants one of each client, where it has authorities for it.
enum class ClientCertificate : uint8_t { kOptional, kRequired };

class TlsContext;
// All connections that were made with it share it.
using TlsContextPtr = std::shared_ptr<const TlsContext>;

class TlsContext {
 public:
  using Judge = std::function<std::optional<TlsFlaw>(const PeerCertificate&)>;

  // What all connections of one kind have in common.
  struct Kind {
    int least_version;
    const char* versions;      // for whoever reads why a peer was refused
    std::string protocol;      // that both must speak inside (ALPN) ...
    bool must_offer;           // ... or, where this is false, whoever offers anything
    const char* plain_client;  // what is wrong with one that does not speak TLS, and the remedy
    std::string_view plain_answer;  // to it
    const char* plain_server;       // the same of a server
    const Remedies& remedies;
  };

  // Between the members of a group: TLS 1.3 alone, both sides known to each other, nothing resumed.
  // By certificates; the set was checked.
  static TlsContextPtr of_members(const CertificateSet& set, MemberRules rules);
  // By the secret of the group; at least one key.
  static TlsContextPtr of_members(std::vector<GroupKey> keys);
  // Of an HTTP server, by TLS 1.2 or 1.3.  Clients are asked for a certificate if there are
  // authorities for it; without one they are served only if it is optional.
  static TlsContextPtr of_http_server(const CertificateSet& set, ClientCertificate wanted);
  // Of an HTTP client, by TLS 1.2 or 1.3: believes the authorities of `set`, and shows its
  // certificate if there is one.
  static TlsContextPtr of_http_client(const CertificateSet& set);
  // The same, but believes this one certificate of a server, whatever its name and authority.
  static TlsContextPtr of_http_client(const CertificateSet& set, const X509Ptr& server);

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
  const Kind& kind() const { return kind_; }
  // Whether a client compares the server's certificate with the name that it has called.
  bool judges_server_names() const { return judges_server_names_; }
  // In the certificate that it shows.
  const CertificateNames& names() const { return names_; }
  // Since when what it shows is valid, and when it is over, in seconds since 1970; nothing where it
  // shows no certificate.
  std::optional<std::time_t> beginning() const { return beginning_; }
  std::optional<std::time_t> expiry() const { return expiry_; }

 private:
  static const Kind kMembers;
  static const Kind kHttp;

  explicit TlsContext(const Kind& kind);

  void show(const CertificateSet& set);
  void believe(const std::vector<X509Ptr>& authorities, int verify_mode) const;
  void name_authorities(const std::vector<X509Ptr>& authorities) const;
  void set_protocol() const;

  SslContextPtr context_;
  const Kind& kind_;
  std::string material_;
  std::vector<GroupKey> keys_;
  Judge judge_;
  bool judges_server_names_ = false;
  CertificateNames names_;
  std::optional<std::time_t> beginning_;
  std::optional<std::time_t> expiry_;
};

}  // namespace bellwether::io
