#include "network/tls/tls_context.h"

#include <fmt/format.h>
#include <openssl/x509_vfy.h>

#include <utility>
#include <vector>

#include "dfrost/error.h"

namespace dfrost {
namespace {

// One record of 16 KiB and its frame fit several times: fewer calls to the system.
constexpr std::size_t kReadAheadBytes = 128 << 10;
// Our certificates have about 250 bytes.
constexpr long kMostCertificateBytes = 4 << 10;

void check_tls(bool good, std::string_view doing) {
  if (!good)
    throw Error(ErrorCode::internal, fmt::format("OpenSSL could not {}: {}", doing, openssl_reason()));
}

KeyFingerprint fingerprint_of_certificate(X509* certificate) {
  unsigned char* der = nullptr;
  const int length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);
  if (length <= 0) return {};
  const auto fingerprint = fingerprint_of(std::as_bytes(std::span(der, static_cast<std::size_t>(length))));
  OPENSSL_free(der);
  return fingerprint;
}

}  // namespace

void use_tls13_only(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_ciphersuites(context,
                           "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384");
  SSL_CTX_set1_groups_list(context, "X25519:P-256");
  SSL_CTX_set1_sigalgs_list(context, "ed25519:ECDSA+SHA256");
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, kReadAheadBytes);
}

OwnedCertificate make_certificate(const PrivateKey& key) {
  OwnedCertificate certificate(X509_new());
  check_tls(certificate != nullptr, "make a certificate");
  X509* raw = certificate.get();
  EVP_PKEY* pair = key.impl().key.get();
  X509_set_version(raw, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(raw), 1);
  ASN1_TIME_set_string(X509_getm_notBefore(raw), "19700101000000Z");
  ASN1_TIME_set_string(X509_getm_notAfter(raw), "99991231235959Z");
  X509_NAME* name = X509_get_subject_name(raw);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("dfrost"), -1,
                             -1, 0);
  X509_set_issuer_name(raw, name);
  X509_set_pubkey(raw, pair);
  const bool hashes_itself = EVP_PKEY_get_base_id(pair) == EVP_PKEY_ED25519;
  check_tls(X509_sign(raw, pair, hashes_itself ? nullptr : EVP_sha256()) > 0, "sign a certificate");
  return certificate;
}

TlsContext::TlsContext(const PrivateKey& key, std::set<KeyFingerprint> members)
    : members_(std::move(members)), context_(SSL_CTX_new(TLS_method())) {
  SSL_CTX* context = context_.get();
  check_tls(context != nullptr, "set TLS up");
  use_tls13_only(context);
  const auto certificate = make_certificate(key);
  check_tls(SSL_CTX_use_certificate(context, certificate.get()) == 1 &&
                SSL_CTX_use_PrivateKey(context, key.impl().key.get()) == 1,
            "use this key");
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_cert_verify_callback(context, verify, this);
  SSL_CTX_set_max_cert_list(context, kMostCertificateBytes);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

// Instead of OpenSSL's whole walk from certificate to certificate: the public key decides. That its holder is
// at the other end is proved by the handshake itself.
int TlsContext::verify(X509_STORE_CTX* store, void* self) {
  const auto* context = static_cast<const TlsContext*>(self);
  X509* certificate = X509_STORE_CTX_get0_cert(store);
  const auto* session =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const auto* only = static_cast<const KeyFingerprint*>(SSL_get_app_data(session));
  const auto shown = certificate == nullptr ? KeyFingerprint{} : fingerprint_of_certificate(certificate);
  const bool known = only != nullptr ? shown == *only : context->members_.contains(shown);
  X509_STORE_CTX_set_error(store, known ? X509_V_OK : X509_V_ERR_CERT_REJECTED);
  return known ? 1 : 0;
}

OwnedSession TlsContext::session(int socket) {
  OwnedSession session(SSL_new(context_.get()));
  check_tls(session && SSL_set_fd(session.get(), socket) == 1, "begin a session");
  return session;
}

OwnedSession TlsContext::accepting(int socket) {
  auto made = session(socket);
  SSL_set_accept_state(made.get());
  return made;
}

OwnedSession TlsContext::dialling(int socket, const KeyFingerprint& member) {
  auto made = session(socket);
  // OpenSSL's table of such pointers is not const; what it points to is only read, above.
  SSL_set_app_data(made.get(), const_cast<KeyFingerprint*>(&member));
  SSL_set_connect_state(made.get());
  return made;
}

KeyFingerprint fingerprint_of_peer(SSL* session) {
  const OwnedCertificate certificate(SSL_get1_peer_certificate(session));
  return certificate ? fingerprint_of_certificate(certificate.get()) : KeyFingerprint{};
}

}  // namespace dfrost
