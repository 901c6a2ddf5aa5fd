// OpenSSL's things with their ends: owned pointers, its errors in words. For .cc files of this folder alone.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

#include "network/tls/identity.h"

namespace dfrost {

template <auto free>
struct OpensslFree {
  template <typename T>
  void operator()(T* object) const {
    free(object);
  }
};
using OwnedBio = std::unique_ptr<BIO, OpensslFree<BIO_free_all>>;
using OwnedKey = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;
using OwnedDigest = std::unique_ptr<EVP_MD_CTX, OpensslFree<EVP_MD_CTX_free>>;
using OwnedCertificate = std::unique_ptr<X509, OpensslFree<X509_free>>;
using OwnedContext = std::unique_ptr<SSL_CTX, OpensslFree<SSL_CTX_free>>;
using OwnedSession = std::unique_ptr<SSL, OpensslFree<SSL_free>>;

struct PrivateKey::Impl {
  OwnedKey key;
};

// What OpenSSL last had to say on this thread; takes it off its list.
inline std::string openssl_reason() {
  const auto code = ERR_get_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "no reason given" : reason;
}

}  // namespace dfrost
