// Fuzzes the reader of HTTP responses.  The first byte chooses how the bytes are cut into pieces,
// whether the request was a HEAD, and whether the server closes in the end.  The pieces must make
// no difference to the answer.  When a flaw is seen, and which one of several, may differ.
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/http/http_response_reader.hh"

namespace bellwether {
namespace {

using Result = io::HttpResponseReader::Result;

constexpr uint8_t kIsHead = 0x80;
constexpr uint8_t kIsClosed = 0x40;

void require(bool condition) {
  if (!condition) std::abort();
}

// An answer as text; every promise that the client's users rely on is kept.
std::string describe(const io::HttpAnswer& answer) {
  require(answer.status >= 200 && answer.status <= 999);
  require(answer.body.size() <= io::HttpResponseReader::kMaxBodyBytes);
  require(!answer.is_body_cut || answer.body.size() == io::HttpResponseReader::kMaxBodyBytes);
  std::string text = std::to_string(answer.status);
  size_t bytes = 0;
  for (const auto& [name, value] : answer.headers) {
    require(!name.empty());
    require(value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos);
    bytes += name.size() + value.size();
    text += "\n" + name + ": " + value;
  }
  require(bytes <= io::HttpResponseReader::kMaxHeadBytes);
  return text + "\n\n" + answer.body + (answer.is_body_cut ? "..." : "");
}

std::string read(std::string_view stream, size_t piece, uint8_t choices) {
  io::HttpResponseReader reader((choices & kIsHead) != 0);
  Result result = Result::kMoreNeeded;
  while (!stream.empty() && result == Result::kMoreNeeded) {
    const std::string_view bytes = stream.substr(0, piece);
    stream.remove_prefix(bytes.size());
    result = reader.append(bytes);
  }
  if (result == Result::kMoreNeeded && (choices & kIsClosed) != 0) {
    result = reader.end();
    require(result != Result::kMoreNeeded);
  }
  if (result == Result::kComplete) return describe(reader.answer());
  require(std::string_view(reader.flaw()).empty() == (result == Result::kMoreNeeded));
  return "no answer";
}

}  // namespace
}  // namespace bellwether

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t piece = 1 + (data[0] & ~unsigned{bellwether::kIsHead | bellwether::kIsClosed}) * 7;
  const std::string whole = bellwether::read(stream, stream.size(), data[0]);
  bellwether::require(bellwether::read(stream, piece, data[0]) == whole);
  return 0;
}
