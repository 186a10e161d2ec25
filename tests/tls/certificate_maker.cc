// By OpenSSL itself.
#include "certificate_maker.hh"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <stdexcept>

namespace bellwether::io::test {
namespace {

void require(bool is_done) {
  if (!is_done) throw std::runtime_error("OpenSSL: " + take_openssl_error());
}

PrivateKeyPtr make_key(const CertificateWish& wish) {
  std::string curve = wish.curve;  // OpenSSL's macro wants what it may change
  PrivateKeyPtr key(wish.rsa_bits == 0 ? EVP_EC_gen(curve.data())
                                       : EVP_RSA_gen(static_cast<unsigned>(wish.rsa_bits)));
  require(key != nullptr);
  return key;
}

void add(X509* certificate, int id, const std::string& value) {
  if (value.empty()) return;
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, id, value.c_str());
  require(extension != nullptr);
  const bool is_added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  require(is_added);
}

X509Ptr make(const CertificateWish& wish, EVP_PKEY* key, const X509* issuer, EVP_PKEY* issuer_key) {
  X509Ptr made(X509_new());
  X509* certificate = made.get();
  X509_set_version(certificate, X509_VERSION_3);
  uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), wish.begins_in.count());
  X509_gmtime_adj(X509_getm_notAfter(certificate), wish.ends_in.count());
  X509_NAME* name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(wish.common_name.c_str()), -1,
                             -1, 0);
  X509_set_issuer_name(certificate, issuer == nullptr ? name : X509_get_subject_name(issuer));
  X509_set_pubkey(certificate, key);
  add(certificate, NID_basic_constraints,
      wish.is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  add(certificate, NID_key_usage, wish.key_usage);
  add(certificate, NID_ext_key_usage, wish.extended_key_usage);
  std::string names;
  for (const std::string& each : wish.names) names += (names.empty() ? "" : ",") + each;
  add(certificate, NID_subject_alt_name, names);
  require(X509_sign(certificate, issuer_key, EVP_sha256()) > 0);
  return made;
}

std::string pem_of(BIO* bio) {
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio, &text);
  return {text, static_cast<size_t>(size)};
}

std::string pem_of(X509* certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  require(PEM_write_bio_X509(bio.get(), certificate) == 1);
  return pem_of(bio.get());
}

std::string pem_of(EVP_PKEY* key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  require(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return pem_of(bio.get());
}

}  // namespace

Authority::Authority(const std::string& name, std::chrono::seconds ends_in) : key_(make_key({})) {
  certificate_ = make({.names = {},
                       .common_name = name,
                       .key_usage = "critical,keyCertSign,cRLSign",
                       .is_authority = true,
                       .ends_in = ends_in},
                      key_.get(), nullptr, key_.get());
}

void Authority::issue(const CertificateWish& wish, TlsTexts& texts) const {
  const PrivateKeyPtr key = make_key(wish);
  texts.cert = pem_of(make(wish, key.get(), certificate_.get(), key_.get()).get());
  texts.key = pem_of(key.get());
  texts.ca = pem();
}

std::string Authority::pem() const { return pem_of(certificate_.get()); }

void issue_self_signed(const CertificateWish& wish, TlsTexts& texts) {
  const PrivateKeyPtr key = make_key(wish);
  texts.cert = pem_of(make(wish, key.get(), nullptr, key.get()).get());
  texts.key = pem_of(key.get());
}

}  // namespace bellwether::io::test
