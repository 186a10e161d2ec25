// Certificates, keys and authorities as their PEM files hold them, and whether they fit together.
#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "io/tls/guarded_file.hh"
#include "io/tls/member_rules.hh"
#include "io/tls/openssl.hh"

namespace bellwether::io {

// What errors call the files of a set: the key that names one in the configuration, and its path;
// or whose it is.
struct CertificateLabels {
  std::string cert = "cert";
  std::string key = "key";
  std::string ca = "ca";
};

struct CertificateSet {
  CertificateLabels labels;
  X509Ptr cert;
  std::vector<X509Ptr> chain;  // without the certificate itself
  PrivateKeyPtr key;
  std::vector<X509Ptr> ca;
};

// All certificates of a PEM file.  Throws TlsError, whose text begins with its `label`.
std::vector<X509Ptr> parse_certificates(std::string_view pem, const std::string& label);

// Throws TlsError, whose text begins with a label.  Without `texts.ca` there are no authorities.
CertificateSet parse_certificate_set(const TlsTexts& texts, CertificateLabels labels);

// Whether peers that trust the set's authorities will believe its certificate, at `now`, on either
// side of a connection.  Throws TlsError as above.
void check_certificate_set(const CertificateSet& set, std::time_t now);

// Whether it can be shown at `now` to whoever believes its authority, which is not known here, as
// `purpose` (X509_PURPOSE_SSL_SERVER or _CLIENT) asks for.  Throws TlsError as above.
void check_shown_certificate(const CertificateSet& set, int purpose, std::time_t now);

// What the rules ask, of a certificate that was verified or is one's own.
PeerCertificate described(X509* certificate);

// When it begins, and when it is over: seconds since 1970.
std::time_t beginning_of(const X509* certificate);
std::time_t expiry_of(const X509* certificate);
// When the first is over: of the certificate, of those between it and the authority, and of the
// authority, as far as the set has it.
std::time_t expiry_of(const CertificateSet& set);
// The same of a chain that was verified.
std::time_t expiry_of(X509_STORE_CTX* verified);

// Different for different certificates (SHA-256); not printable.
std::string digest_of(const X509* certificate);

// A place to look for the authorities in.  Throws std::bad_alloc.
X509StorePtr make_store(const std::vector<X509Ptr>& authorities);

// Why a chain was not believed, and which of our reasons that is.  `error` is one of OpenSSL's
// X509_V_ERR_....
TlsFlaw chain_flaw(int error, X509* certificate);

}  // namespace bellwether::io
