// The TLS of all links of a site: version 1.3 only, both sides show a certificate that is made here from the
// site's key, and believe the other's for its public key alone. Who signed it, when and for how long is not
// looked at, so nothing expires and no clock matters. Sessions are not resumed. Not to be copied or moved:
// OpenSSL holds its address.
#pragma once

#include <set>

#include "network/tls/identity.h"
#include "network/tls/openssl.h"

namespace dfrost {

class TlsContext {
 public:
  TlsContext(const PrivateKey& key, std::set<KeyFingerprint> members);
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // For a socket that somebody else opened: any member may come.
  OwnedSession accepting(int socket);
  // For a socket opened to one member. The fingerprint lives longer than the session.
  OwnedSession dialling(int socket, const KeyFingerprint& member);

  SSL_CTX* get() const { return context_.get(); }

 private:
  static int verify(X509_STORE_CTX* store, void* self);
  OwnedSession session(int socket);

  std::set<KeyFingerprint> members_;
  OwnedContext context_;
};

// Of the certificate that the other side showed.
KeyFingerprint fingerprint_of_peer(SSL* session);

// Sets what every TLS context of dfrost has; `dfrost bench wire` sets its bare copy up with it too.
void use_tls13_only(SSL_CTX* context);
// A certificate of this key, signed by itself.
OwnedCertificate make_certificate(const PrivateKey& key);

}  // namespace dfrost
