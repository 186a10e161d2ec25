// How this program owns OpenSSL's objects, and what its errors say.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bellwether::io {

template <auto kFree>
struct FreeWith {
  template <typename Object>
  void operator()(Object* object) const {
    kFree(object);
  }
};

using BioPtr = std::unique_ptr<BIO, FreeWith<BIO_free>>;
using X509Ptr = std::unique_ptr<X509, FreeWith<X509_free>>;
using X509StorePtr = std::unique_ptr<X509_STORE, FreeWith<X509_STORE_free>>;
using X509StoreContextPtr = std::unique_ptr<X509_STORE_CTX, FreeWith<X509_STORE_CTX_free>>;
using PrivateKeyPtr = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;
using SslPtr = std::unique_ptr<SSL, FreeWith<SSL_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, FreeWith<SSL_CTX_free>>;
using SslSessionPtr = std::unique_ptr<SSL_SESSION, FreeWith<SSL_SESSION_free>>;

// Why a file, or a set of files, cannot be used for TLS: a phrase for the operator that names no
// secret.
class TlsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// From now on everything that OpenSSL allocates is memory that no core dump shows: keys, and what
// is derived from them for each connection, wherever it keeps them.  Before OpenSSL has allocated
// anything; false when it has.
bool keep_openssl_out_of_core_dumps();

// The oldest error of this thread's queue, which is then empty, as a phrase in lower case; "" when
// there is none.
std::string take_openssl_error();

// A BIO that reads from `text`, which must outlive it.
BioPtr reader_of(std::string_view text);

}  // namespace bellwether::io
