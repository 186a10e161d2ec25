// Fuzzes the reader of HTTP requests.  The first byte chooses how the bytes are cut into pieces;
// that must make no difference to the requests that are found.  When a flaw is seen, and which one
// of several, may differ.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/http/http_reader.hh"

namespace bellwether {
namespace {

constexpr io::HttpLimits kLimits{.header_bytes = 1024, .body_bytes = 256};

void require(bool condition) {
  if (!condition) std::abort();
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return (c >= 0 && c < ' ') || c == 0x7F; });
}

// A request as text; every promise that handlers rely on is kept.
std::string describe(const io::HttpRequest& request, const io::HttpFraming& framing) {
  require(!request.method.empty() && !request.path.empty());
  require(!has_control(request.method) && !has_control(request.path));
  require(request.path.front() == '/' || (request.path == "*" && request.method == "OPTIONS"));
  require(request.body.size() <= kLimits.body_bytes);
  require(framing.is_http_1_0 || request.header("Host") != nullptr);
  std::string text = request.method + " " + request.path;
  for (const auto& [key, value] : request.query) {
    require(!has_control(key) && !has_control(value));
    text += "?" + key + "=" + value;
  }
  size_t bytes = 0;
  for (const auto& [name, value] : request.headers) {
    require(value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos);
    bytes += name.size() + value.size();
    text += "\n" + name + ": " + value;
  }
  require(bytes <= kLimits.header_bytes);
  return text + "\n\n" + request.body + (framing.is_kept_alive ? "+" : "-");
}

std::string read(std::string_view stream, size_t piece) {
  io::HttpReader reader(kLimits);
  std::string found;
  while (!stream.empty()) {
    const std::string_view bytes = stream.substr(0, piece);
    stream.remove_prefix(bytes.size());
    reader.append(bytes);
    while (true) {
      const io::HttpReader::Result result = reader.next();
      if (result == io::HttpReader::Result::kRefused) {
        require(!has_control(reader.refusal().reason));
        require(reader.refusal().status >= 400);
        return found;
      }
      if (result == io::HttpReader::Result::kMoreNeeded) break;
      found += describe(reader.request(), reader.framing());
    }
    require(reader.waiting_bytes() <= kLimits.header_bytes);
  }
  return found;
}

}  // namespace
}  // namespace bellwether

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = bellwether::read(stream, stream.size());
  bellwether::require(bellwether::read(stream, 1 + size_t{data[0]}) == whole);
  return 0;
}
