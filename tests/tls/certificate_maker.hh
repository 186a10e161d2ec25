// Authorities and certificates, made in memory; good ones unless a test asks for a flaw.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "io/tls/guarded_file.hh"
#include "io/tls/openssl.hh"

namespace bellwether::io::test {

struct CertificateWish {
  std::vector<std::string> names;  // as OpenSSL's configuration writes them: "DNS:a.b", "URI:..."
  std::string common_name = "nobody";
  std::string key_usage = "critical,digitalSignature";  // empty: the extension is left out
  std::string extended_key_usage;
  bool is_authority = false;
  std::chrono::seconds begins_in = std::chrono::hours(-1);
  std::chrono::seconds ends_in = std::chrono::hours(24);
  int rsa_bits = 0;  // 0: a key on `curve`
  std::string curve = "P-256";
};

class Authority {
 public:
  explicit Authority(const std::string& name,
                     std::chrono::seconds ends_in = CertificateWish{}.ends_in);

  // A certificate and its key in PEM, and this authority.
  void issue(const CertificateWish& wish, TlsTexts& texts) const;
  std::string pem() const;

 private:
  PrivateKeyPtr key_;
  X509Ptr certificate_;
};

// A certificate that nobody but itself has signed.
void issue_self_signed(const CertificateWish& wish, TlsTexts& texts);

}  // namespace bellwether::io::test
