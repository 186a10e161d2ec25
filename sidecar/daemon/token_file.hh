// The tokens of [api] token_file, read again when the file changes.
#pragma once

#include <string>
#include <vector>

#include "io/tls/guarded_file.hh"

namespace bellwether::daemon {

struct TokenReading {
  std::vector<std::string> digests;
  std::string error{};  // why there are none; names the file, but nothing that is in it

  friend bool operator==(const TokenReading&, const TokenReading&) = default;
};

// Blocks for as long as the disk does; throws nothing.
TokenReading read_tokens(const std::string& path, io::Secrecy secrecy);

}  // namespace bellwether::daemon
