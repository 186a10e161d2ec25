// Signatures of webhooks as the Standard Webhooks specification has them (version 1, symmetric): by
// them a receiver knows that an event comes from somebody who has the secret, and when it was sent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/undumped_memory.hh"
#include "io/http/http_message.hh"

namespace bellwether::api {

// What events are signed with: of each line one key.  Wiped when it goes.
struct SigningKeys {
  std::vector<SecretText> keys;  // bytes

  SigningKeys() = default;
  SigningKeys(const SigningKeys&) = delete;
  SigningKeys& operator=(const SigningKeys&) = delete;
  ~SigningKeys();
};
// The reading that it came by, and the webhook, share it.
using SigningKeysPtr = std::shared_ptr<const SigningKeys>;

// The keys of a file's text, in its order, at most 8.  A line is "whsec_" and base64, of which the
// bytes are the key; or it is the key itself; 24 to 64 bytes.  Empty lines and those that begin
// with '#' are left out.  Throws TlsError, which names the line but nothing of what it says.
SigningKeysPtr parse_signing_keys(std::string_view text);

// A new line for such a file: "whsec_" and 256 random bits.  Throws TlsError.
std::string make_signing_key();

// webhook-id, webhook-timestamp and webhook-signature, in which each key has its signature.
// `seconds` since 1970.
io::HttpHeaders signature_headers(const SigningKeys& keys, const std::string& id, int64_t seconds,
                                  std::string_view body);

}  // namespace bellwether::api
