/* An application that is attached to its sidecar and answers its health checks, for lively_test.py.
 *
 *   lively PLACE NAME PORT: answers at 127.0.0.1:PORT */
#define _GNU_SOURCE
#include <bellwether/attachment.h>

static int listen_on(const char* port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  struct sockaddr_in place;
  memset(&place, 0, sizeof place);
  place.sin_family = AF_INET;
  place.sin_port = htons((uint16_t)atoi(port));
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd, (const struct sockaddr*)&place, sizeof place) != 0 || listen(fd, 16) != 0) abort();
  return fd;
}

static void answer(int listener) {
  static const char kWell[] = "HTTP/1.0 204 No Content\r\n\r\n";
  char request[1024];
  const int fd = accept(listener, NULL, NULL);
  if (fd < 0) return;
  if (recv(fd, request, sizeof request, 0) > 0) send(fd, kWell, sizeof kWell - 1, MSG_NOSIGNAL);
  close(fd);
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const int listener = listen_on(arguments[3]);
  attachment mine;
  while (attachment_open(&mine, arguments[1], arguments[2], NULL) != 0) poll(NULL, 0, 10);
  while (1) {
    struct pollfd ends[2] = {{.fd = listener, .events = POLLIN},
                             {.fd = attachment_fd(&mine), .events = POLLIN}};
    attachment_event event;
    int result = 0;
    poll(ends, 2, -1);
    if (ends[0].revents != 0) answer(listener);
    if (ends[1].revents == 0) continue;
    while (result == 0) result = attachment_next(&mine, &event);
    if (result != -EAGAIN) return 1;
  }
}
