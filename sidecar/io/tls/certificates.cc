// Files of any issuer: what is not in the standard form is refused, not guessed at.
#include "io/tls/certificates.hh"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <utility>

#include "base/ascii.hh"

namespace bellwether::io {
namespace {

using NamesPtr = std::unique_ptr<GENERAL_NAMES, FreeWith<GENERAL_NAMES_free>>;
using X509Stack =
    std::unique_ptr<STACK_OF(X509), decltype([](STACK_OF(X509) * stack) { sk_X509_free(stack); })>;

// What a log and a screen can show; no configured name has a '?'.
std::string printable(const ASN1_STRING* string) {
  const std::span bytes(ASN1_STRING_get0_data(string),
                        static_cast<size_t>(ASN1_STRING_length(string)));
  std::string text;
  for (const unsigned char byte : bytes) {
    const bool is_shown = byte > ' ' && byte <= '~' && byte != '"' && byte != '\\';
    text += is_shown ? static_cast<char>(byte) : '?';
  }
  return text;
}

std::string address_text(const ASN1_OCTET_STRING* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = ASN1_STRING_length(address) == sizeof(in_addr) ? AF_INET : AF_INET6;
  const int expected = family == AF_INET ? sizeof(in_addr) : sizeof(in6_addr);
  if (ASN1_STRING_length(address) != expected) return "?";
  inet_ntop(family, ASN1_STRING_get0_data(address), text.data(), text.size());
  return text.data();
}

CertificateNames names_of(const X509* certificate) {
  CertificateNames names;
  const NamesPtr found(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(found.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(found.get(), i);
    int type = 0;
    const void* value = GENERAL_NAME_get0_value(name, &type);
    if (type == GEN_URI) names.uris.push_back(printable(static_cast<const ASN1_STRING*>(value)));
    if (type == GEN_DNS) {
      names.dns.push_back(to_lower(printable(static_cast<const ASN1_STRING*>(value))));
    }
    if (type == GEN_IPADD) {
      names.addresses.push_back(address_text(static_cast<const ASN1_OCTET_STRING*>(value)));
    }
  }
  return names;
}

std::string common_name_of(const X509* certificate) {
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const int place = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (place < 0) return "";
  return printable(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, place)));
}

std::time_t seconds_of(const ASN1_TIME* time) {
  std::tm broken_down{};
  return ASN1_TIME_to_tm(time, &broken_down) == 1 ? timegm(&broken_down) : 0;
}

// A key with a password cannot be read: nobody is there to type it.
int refuse_password(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) { return -1; }

PrivateKeyPtr parse_key(std::string_view pem) {
  const BioPtr reader = reader_of(pem);
  return PrivateKeyPtr(PEM_read_bio_PrivateKey(reader.get(), nullptr, refuse_password, nullptr));
}

// Why nobody could be shown that this key is here; "": TLS 1.3 has a signature for it (RFC 8446,
// 4.2.3).
std::string flaw_of(const EVP_PKEY* key) {
  constexpr std::array<std::string_view, 3> kCurves{"prime256v1", "secp384r1", "secp521r1"};
  constexpr std::array kOthers{EVP_PKEY_RSA, EVP_PKEY_RSA_PSS, EVP_PKEY_ED25519, EVP_PKEY_ED448};
  const int type = EVP_PKEY_get_base_id(key);
  if (std::ranges::count(kOthers, type) > 0) return "";
  std::array<char, 64> curve{};
  const bool is_on_curve =
      type == EVP_PKEY_EC && EVP_PKEY_get_group_name(key, curve.data(), curve.size(), nullptr) == 1;
  if (is_on_curve && std::ranges::count(kCurves, std::string_view(curve.data())) > 0) return "";
  const std::string kind = is_on_curve ? "on the curve " + std::string(curve.data()) : "of a kind";
  return kind +
         " with which TLS 1.3 does not sign; make one on P-256 (prime256v1), P-384 or P-521, "
         "of Ed25519, or of RSA";
}

X509Stack stack_of(const std::vector<X509Ptr>& certificates) {
  X509Stack stack(sk_X509_new_null());
  for (const X509Ptr& certificate : certificates) {
    if (stack == nullptr || sk_X509_push(stack.get(), certificate.get()) == 0) {
      throw std::bad_alloc();
    }
  }
  return stack;
}

// One of X509_V_...; X509_V_OK when the chain stands.
int verify(const CertificateSet& set, int purpose, std::time_t now) {
  const X509StorePtr store = make_store(set.ca);
  const X509Stack chain = stack_of(set.chain);
  const X509StoreContextPtr context(X509_STORE_CTX_new());
  if (context == nullptr ||
      X509_STORE_CTX_init(context.get(), store.get(), set.cert.get(), chain.get()) != 1) {
    throw std::bad_alloc();
  }
  X509_STORE_CTX_set_purpose(context.get(), purpose);
  X509_STORE_CTX_set_time(context.get(), 0, now);
  return X509_verify_cert(context.get()) == 1 ? X509_V_OK : X509_STORE_CTX_get_error(context.get());
}

// Of those that may have signed it: during a rotation several have one name.
X509* longest_issuer(X509* certificate, const std::vector<X509Ptr>& authorities) {
  X509* longest = nullptr;
  for (const X509Ptr& each : authorities) {
    if (X509_check_issued(each.get(), certificate) != X509_V_OK) continue;
    if (longest == nullptr || expiry_of(each.get()) > expiry_of(longest)) longest = each.get();
  }
  return longest;
}

// Whatever is no first line passes for words between certificates, and so does a part of one.
bool ends_in_a_first_line(std::string_view pem) {
  constexpr std::string_view kFirstLine = "-----BEGIN CERTIFICATE-----";
  const std::string_view last = pem.substr(pem.rfind('\n') + 1);
  return !last.empty() && kFirstLine.starts_with(last);
}

bool is_without_issuer(int error) {
  switch (error) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return true;
    default:
      return false;
  }
}

[[noreturn]] void fail_by_time(const std::string& label, bool is_over) {
  throw TlsError(
      label + ", or an authority behind it, " +
      (is_over ? "has expired; renew it" : "is not valid yet; look at this machine's clock"));
}

}  // namespace

std::vector<X509Ptr> parse_certificates(std::string_view pem, const std::string& label) {
  const BioPtr reader = reader_of(pem);
  std::vector<X509Ptr> certificates;
  while (X509* certificate = PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(certificate);
  }
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  if (ERR_GET_REASON(error) != PEM_R_NO_START_LINE || ends_in_a_first_line(pem)) {
    throw TlsError(label +
                   " holds a certificate that is cut short or damaged; copy it there again");
  }
  if (certificates.empty()) {
    throw TlsError(
        label +
        " holds no certificate in PEM; give it one that begins with -----BEGIN CERTIFICATE-----");
  }
  return certificates;
}

CertificateSet parse_certificate_set(const TlsTexts& texts, CertificateLabels labels) {
  CertificateSet set;
  set.labels = std::move(labels);
  const auto& [cert, key, ca] = set.labels;
  set.chain = parse_certificates(texts.cert, cert);
  set.cert = std::move(set.chain.front());
  set.chain.erase(set.chain.begin());
  if (!texts.ca.empty()) set.ca = parse_certificates(texts.ca, ca);
  set.key = parse_key(texts.key);
  ERR_clear_error();
  if (set.key == nullptr) {
    throw TlsError(key + " holds no private key in PEM without a password; give it one without");
  }
  if (X509_check_private_key(set.cert.get(), set.key.get()) != 1) {
    ERR_clear_error();
    throw TlsError(fmt::format("{} does not belong to {}; give the two of one pair", key, cert));
  }
  if (const std::string flaw = flaw_of(set.key.get()); !flaw.empty()) {
    throw TlsError(fmt::format("{} is {}", key, flaw));
  }
  return set;
}

void check_certificate_set(const CertificateSet& set, std::time_t now) {
  const std::string& cert = set.labels.cert;
  for (const int purpose : {X509_PURPOSE_SSL_SERVER, X509_PURPOSE_SSL_CLIENT}) {
    const int error = verify(set, purpose, now);
    ERR_clear_error();
    if (error == X509_V_OK) continue;
    const bool is_over = error == X509_V_ERR_CERT_HAS_EXPIRED;
    if (is_over || error == X509_V_ERR_CERT_NOT_YET_VALID) fail_by_time(cert, is_over);
    if (error == X509_V_ERR_INVALID_PURPOSE) {
      const bool is_server = purpose == X509_PURPOSE_SSL_SERVER;
      throw TlsError(
          fmt::format("{} is not for {}; a member needs a certificate for both "
                      "serverAuth and clientAuth, or for any use",
                      cert, is_server ? "servers" : "clients"));
    }
    throw TlsError(fmt::format("{} is not believed by {}: {}; {}", cert, set.labels.ca,
                               X509_verify_cert_error_string(error),
                               is_without_issuer(error) ? "let that have the authority that has "
                                                          "signed it"
                                                        : "issue another one"));
  }
}

void check_shown_certificate(const CertificateSet& set, int purpose, std::time_t now) {
  const std::string& cert = set.labels.cert;
  if (X509_check_purpose(set.cert.get(), purpose, 0) != 1) {
    const bool is_server = purpose == X509_PURPOSE_SSL_SERVER;
    throw TlsError(fmt::format("{} is not for {}; issue one with extendedKeyUsage {}", cert,
                               is_server ? "servers" : "clients",
                               is_server ? "serverAuth" : "clientAuth"));
  }
  const bool is_over = expiry_of(set) <= now;
  if (is_over || beginning_of(set.cert.get()) > now) fail_by_time(cert, is_over);
}

PeerCertificate described(X509* certificate) {
  const uint32_t use = X509_get_key_usage(certificate);
  const bool has_use = use != UINT32_MAX;
  const bool may_sign = has_use && (use & (KU_KEY_CERT_SIGN | KU_CRL_SIGN)) != 0;
  const bool is_ca = (X509_get_extension_flags(certificate) & EXFLAG_CA) != 0;
  return {.names = names_of(certificate),
          .is_authority = is_ca || may_sign,
          .has_signature_use = has_use && (use & KU_DIGITAL_SIGNATURE) != 0,
          .is_for_both_sides = X509_check_purpose(certificate, X509_PURPOSE_SSL_SERVER, 0) == 1 &&
                               X509_check_purpose(certificate, X509_PURPOSE_SSL_CLIENT, 0) == 1,
          .common_name = common_name_of(certificate)};
}

std::time_t beginning_of(const X509* certificate) {
  return seconds_of(X509_get0_notBefore(certificate));
}

std::time_t expiry_of(const X509* certificate) {
  return seconds_of(X509_get0_notAfter(certificate));
}

std::time_t expiry_of(const CertificateSet& set) {
  X509* last = set.cert.get();
  std::time_t first = expiry_of(last);
  for (const X509Ptr& certificate : set.chain) {
    last = certificate.get();
    first = std::min(first, expiry_of(last));
  }
  // Up to a root; no longer than there are authorities, for two may have signed each other.
  for (size_t step = 0; step < set.ca.size(); ++step) {
    X509* const issuer = longest_issuer(last, set.ca);
    if (issuer == nullptr || issuer == last) break;
    last = issuer;
    first = std::min(first, expiry_of(last));
  }
  return first;
}

std::time_t expiry_of(X509_STORE_CTX* verified) {
  const STACK_OF(X509)* chain = X509_STORE_CTX_get0_chain(verified);
  std::time_t first = std::numeric_limits<std::time_t>::max();
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    first = std::min(first, expiry_of(sk_X509_value(chain, i)));
  }
  return first;
}

std::string digest_of(const X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned bytes = 0;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &bytes) != 1) throw std::bad_alloc();
  return {digest.begin(), digest.begin() + bytes};
}

X509StorePtr make_store(const std::vector<X509Ptr>& authorities) {
  X509StorePtr store(X509_STORE_new());
  if (store == nullptr) throw std::bad_alloc();
  for (const X509Ptr& authority : authorities) {
    if (X509_STORE_add_cert(store.get(), authority.get()) != 1) throw std::bad_alloc();
  }
  // A bundle may hold authorities that another one, which it does not hold, has signed.
  X509_STORE_set_flags(store.get(), X509_V_FLAG_PARTIAL_CHAIN);
  return store;
}

TlsFlaw chain_flaw(int error, X509* certificate) {
  const std::string whose =
      certificate == nullptr ? "the peer's certificate"
                             : "the peer's certificate, for " + names_of(certificate).text() + ",";
  const auto flaw = [&](Rejection reason, const std::string& what) {
    return TlsFlaw{reason, whose + " " + what};
  };
  if (is_without_issuer(error)) {
    return flaw(Rejection::kTlsUnknownCa,
                "was not signed by an authority that is trusted here; add its authority to the "
                "bundle, or give the peer a certificate of this one");
  }
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return flaw(Rejection::kTlsExpired, "or one above it, has expired; renew it");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return flaw(Rejection::kTlsExpired,
                  "or one above it, is not valid yet; look at the clocks of both machines");
    default:
      return flaw(Rejection::kTlsBadCertificate,
                  std::string("is refused: ") + X509_verify_cert_error_string(error));
  }
}

}  // namespace bellwether::io
