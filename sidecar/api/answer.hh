// Where the answer to one request goes.  In production that is io's HttpReply (http_binding.cc);
// the routes know this much of it only, so they run without a socket.
#pragma once

#include <string_view>

#include "io/http/http_server.hh"

namespace bellwether::api {

class Answer {
 public:
  virtual ~Answer() = default;
  // False once the client has gone, or when the answer is complete.
  virtual bool is_open() const = 0;
  // The whole answer, once.
  virtual void send(HttpResponse response) = 0;
  // Or an answer without an end.  write() returns false when the client has gone.
  virtual void begin_stream(std::string_view content_type) = 0;
  virtual bool write(std::string_view piece) = 0;
};

}  // namespace bellwether::api
