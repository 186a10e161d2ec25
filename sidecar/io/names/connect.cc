// Requests lie on the heap and free themselves: that of a socket which was closed ends a turn
// later.
#include "io/names/connect.hh"

#include <sys/un.h>

#include <memory>
#include <utility>

namespace bellwether::io {
namespace {

struct Request {
  uv_connect_t request{};
  OnConnected on_connected;
};

std::unique_ptr<Request> make_request(OnConnected on_connected) {
  auto made = std::make_unique<Request>();
  made->request.data = made.get();
  made->on_connected = std::move(on_connected);
  return made;
}

void on_ended(uv_connect_t* request, int status) {
  const std::unique_ptr<Request> ended(static_cast<Request*>(request->data));
  if (request->handle->data != nullptr) ended->on_connected(status);
}

}  // namespace

int connect(uv_tcp_t& socket, const SocketAddress& address, OnConnected on_connected) {
  auto made = make_request(std::move(on_connected));
  const int status = uv_tcp_connect(&made->request, &socket, address.get(), on_ended);
  if (status == 0) static_cast<void>(made.release());
  return status;
}

int connect(uv_pipe_t& socket, const std::string& path, OnConnected on_connected) {
  // libuv would cut it.
  if (path.size() >= sizeof(sockaddr_un::sun_path)) return UV_ENAMETOOLONG;
  auto* made = make_request(std::move(on_connected)).release();
  uv_pipe_connect(&made->request, &socket, path.c_str(), on_ended);
  return 0;
}

}  // namespace bellwether::io
