/* The application's attachment to its sidecar: while it is open, this node may lead (`[application]
 * attach`).  The open connection is the statement "I am here", and the kernel ends it when the
 * process dies, however it dies.  A child of fork() holds it, too, until it execs or ends: let it
 * call attachment_close() first of all, or this node leads on when only the child is left.
 *
 *   static attachment mine;
 *   if (attachment_open(&mine, "/run/bellwether/api.sock", "worker", NULL) != 0) ...;
 *   ... wait until attachment_fd(&mine) is readable, in the application's own event loop ...
 *   attachment_event event;
 *   while (attachment_next(&mine, &event) == 0) ...;     -EAGAIN: no more for now
 *
 * Whether this replica leads says the flag (leader_flag.h), before each piece of work; the events
 * here only wake whoever waits for that.
 *
 * Before its node hands leadership over, the application is told so (ATTACHMENT_DRAIN, where
 * `[application] drain_timeout` is set): leader_flag_begin() refuses from then on, and when what
 * was begun has ended, attachment_drained() says so.
 *
 * C11 and C++, header only, Linux.  No threads, no memory of its own, one descriptor.  Only
 * attachment_open(), attachment_score(), attachment_scorer_tell() and attachment_drained() may
 * block, each for ATTACHMENT_TIMEOUT_MS at most: the first until the sidecar, on this host, has
 * accepted, the others until it has answered.  An attachment belongs to one thread at a time. */
#ifndef BELLWETHER_ATTACHMENT_H
#define BELLWETHER_ATTACHMENT_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* <time.h> hides it from strict C11. */
extern int attachment_clock_gettime_(int clock, struct timespec* time) __asm__("clock_gettime");

enum {
  ATTACHMENT_BUFFER_BYTES = 4096, /* no line of the sidecar's is longer */
  ATTACHMENT_TOKEN_BYTES = 1024,  /* no token is */
  ATTACHMENT_TIMEOUT_MS = 2000
};

/* What the sidecar says. */
enum {
  ATTACHMENT_OTHER = 0,    /* an event of a later release; to be ignored */
  ATTACHMENT_ATTACHED = 1, /* the sidecar knows of this application from now on */
  ATTACHMENT_LEAD = 2,     /* this node leads `epoch` */
  ATTACHMENT_FOLLOW = 3,   /* it does not; `epoch` is that of its leader, or of the last one */
  ATTACHMENT_DRAIN = 4     /* it leads `epoch`, and hands over: finish, and say so, in `left_ms` */
}; /* a hand-over is ATTACHMENT_FOLLOW twice: without a leader, and when there is the next one */

typedef struct attachment_event {
  int type; /* ATTACHMENT_* */
  uint64_t epoch;
  uint64_t left_ms;    /* of ATTACHMENT_DRAIN; otherwise 0 */
  uint64_t attachment; /* of ATTACHMENT_DRAIN: who is asked */
  uint64_t drain;      /* of ATTACHMENT_DRAIN: its number; an epoch may see more than one */
} attachment_event;

/* By which the application may attach over TCP, where `[api] token_file` asks for a token: what is
 * given of the two, the other is NULL.  The file's first line that is neither empty nor begins with
 * '#' counts; it is read each time that a token is sent, for tokens are replaced.  It is sent as it
 * is: to the sidecar of this host. */
typedef struct attachment_token {
  const char* text;
  const char* file;
} attachment_token;

/* Its members are private to this header. */
typedef struct attachment {
  int fd;                /* -1: not open */
  int status;            /* of the sidecar's answer; 0: not there yet */
  attachment_event next; /* is being read; its type is -1: none, -2: the head is read */
  int is_stream;         /* the head says that events follow */
  uint64_t answer_by_ms; /* when the head must have come */
  size_t used;
  char buffer[ATTACHMENT_BUFFER_BYTES];
} attachment;

/* A connection for scores, of one thread at a time; private, too.  Begin with the initializer. */
typedef struct attachment_scorer {
  int fd; /* -1: there is none now */
} attachment_scorer;
#define ATTACHMENT_SCORER_CLOSED \
  { -1 }

/* Attaches as `name`: 1 to 64 letters, digits, '-', '.' and '_'.  `place` is the path of the API's
 * unix socket, or its address, "127.0.0.1:4040", "[::1]:4040" or "http://[::1]:4040" ([api] socket
 * and listen; "localhost" is 127.0.0.1).  `score`: what the application is worth from the start, or
 * NULL.  Returns 0, or a negative errno: -EINVAL (place or name), -ERANGE (score), -ENOENT and
 * -ECONNREFUSED (no sidecar there), and what connect(2) and send(2) say.  What the sidecar answers,
 * attachment_next() tells.  Close it with attachment_close().
 * With a token (NULL: none), as below, too, -ENOKEY: its file cannot be read, or there is none of 1
 * to ATTACHMENT_TOKEN_BYTES visible characters of ASCII. */
static inline int attachment_open_by(attachment* self, const char* place, const char* name,
                                     const int64_t* score, const attachment_token* token);
static inline int attachment_open(attachment* self, const char* place, const char* name,
                                  const int64_t* score) {
  return attachment_open_by(self, place, name, score, NULL);
}

/* Readable when attachment_next() has something to say.  -1: not open. */
static inline int attachment_fd(const attachment* self) { return self->fd; }

/* The next event.  Returns 0; -EAGAIN: there is none now; -ECONNRESET: the sidecar has ended, and
 * -ETIMEDOUT: it has not answered in ATTACHMENT_TIMEOUT_MS (so call this once after that time,
 * too), so open another attachment, after a moment; -EACCES: this process may not attach (401: by
 * this token, or without one; 403), and -EPROTO: the sidecar has refused it for another reason:
 * attachment_status() says which (400: a name that it does not take, 429 and 503: there are too
 * many; 200: what answers there is no sidecar).  After these only attachment_close() is of use. */
static inline int attachment_next(attachment* self, attachment_event* event);

/* The code of the sidecar's answer (HTTP); 0: it has not answered yet. */
static inline int attachment_status(const attachment* self) { return self->status; }

/* The application is worth this from now on, whoever it was that attached; from -(2^53 - 1) to
 * 2^53 - 1.  Until it is said, also after a restart of the sidecar, it is 0.  Returns 0, or a
 * negative errno: -EAGAIN: too many a second, -ETIMEDOUT, -EPROTO: it was refused; and those of
 * attachment_open().
 *
 * If it changes often, say it over a scorer, which keeps its connection, to one place: making one
 * for each is much of what a score costs the sidecar.  Another is made when the sidecar has closed
 * it, and by the call after an error.  A score that could not be said is not kept: say it again. */
static inline int attachment_scorer_tell(attachment_scorer* self, const char* place, int64_t score,
                                         const attachment_token* token);
static inline int attachment_score_by(const char* place, int64_t score,
                                      const attachment_token* token) {
  return attachment_scorer_tell(NULL, place, score, token);
}
static inline int attachment_score(const char* place, int64_t score) {
  return attachment_score_by(place, score, NULL);
}

/* May be repeated, and attachment_scorer_tell() may follow. */
static inline void attachment_scorer_close(attachment_scorer* self) {
  if (self->fd >= 0) close(self->fd);
  self->fd = -1;
}

/* What was begun has ended, as this event, ATTACHMENT_DRAIN, asked for; may be said twice.  Returns
 * 0, or a negative errno: -ESTALE: nobody waits for it in this drain (any more), -ENOENT: there is
 * no sidecar, or this attachment was not asked; and those of attachment_score(). */
static inline int attachment_drained_by(const char* place, const attachment_event* drain,
                                        const attachment_token* token);
static inline int attachment_drained(const char* place, const attachment_event* drain) {
  return attachment_drained_by(place, drain, NULL);
}

/* Detaches: if no other application is attached, this node leads no longer.  May be repeated. */
static inline void attachment_close(attachment* self) {
  if (self->fd >= 0) close(self->fd);
  self->fd = -1;
}

/* --- what follows is the code --- */

static inline uint64_t attachment_now_ms_(void) {
  struct timespec now = {0, 0};
  attachment_clock_gettime_(1 /* CLOCK_MONOTONIC */, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static inline int attachment_left_ms_(uint64_t by_ms) {
  const uint64_t now_ms = attachment_now_ms_();
  return now_ms < by_ms ? (int)(by_ms - now_ms) : 0;
}

static inline int attachment_connect_(const char* place, uint64_t by_ms) {
  union {
    struct sockaddr any;
    struct sockaddr_un un;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
  } to;
  memset(&to, 0, sizeof to);
  if (strncmp(place, "http://", 7) == 0) place += 7;
  if (place[0] == '/') {
    to.un.sun_family = AF_UNIX;
    if (strlen(place) >= sizeof to.un.sun_path) return -EINVAL;
    memcpy(to.un.sun_path, place, strlen(place));
  } else {
    const char* const colon = strrchr(place, ':');
    char host[64];
    if (colon == NULL || colon == place || (size_t)(colon - place) >= sizeof host) return -EINVAL;
    const int is_v6 = place[0] == '[' && colon[-1] == ']';
    const size_t host_length = (size_t)(colon - place) - (is_v6 ? 2u : 0u);
    memcpy(host, place + is_v6, host_length);
    host[host_length] = '\0';
    const long port = strtol(colon + 1, NULL, 10);
    if (port < 1 || port > 65535) return -EINVAL;
    void* const address = is_v6 ? (void*)&to.in6.sin6_addr : (void*)&to.in.sin_addr;
    to.in.sin_family = is_v6 ? AF_INET6 : AF_INET; /* this and the port are there in both */
    to.in.sin_port = htons((uint16_t)port);
    const char* const name = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    if (inet_pton(to.in.sin_family, name, address) != 1) return -EINVAL;
  }
  const int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  const int left_ms = attachment_left_ms_(by_ms);
  const struct timeval limit = {left_ms / 1000, left_ms % 1000 * 1000 + 1}; /* 0 would be: none */
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit); /* limits connect(2), too */
  if (connect(fd, &to.any, sizeof to.un) == 0) return fd;
  const int flaw = errno == EAGAIN || errno == EINPROGRESS ? -ETIMEDOUT : -errno;
  close(fd);
  return flaw;
}

/* The beginning of a file, as a string. */
static inline int attachment_read_(const char* path, char* text, size_t size) {
  size_t used = 0;
  const int fd = open(path, O_RDONLY | SOCK_CLOEXEC); /* O_CLOEXEC, hidden from strict C11 */
  if (fd < 0) return -ENOKEY;
  while (used < size - 1) {
    const ssize_t got = read(fd, text + used, size - 1 - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    used += (size_t)got;
  }
  close(fd);
  text[used] = '\0';
  return 0;
}

/* The header with the token, or an empty one; `header` has 64 bytes more than a token. */
static inline int attachment_authorize_(const attachment_token* token, char* header) {
  char text[ATTACHMENT_BUFFER_BYTES];
  header[0] = '\0';
  if (token == NULL || (token->text == NULL && token->file == NULL)) return 0;
  const char* begin = token->text;
  size_t length = begin != NULL ? strlen(begin) : 0;
  if (begin == NULL) {
    if (attachment_read_(token->file, text, sizeof text) != 0) return -ENOKEY;
    begin = text + strspn(text, " \t\r\n");
    while (*begin == '#') {
      begin += strcspn(begin, "\n");
      begin += strspn(begin, " \t\r\n");
    }
    length = strcspn(begin, "\n");
    while (length > 0 && strchr(" \t\r", begin[length - 1]) != NULL) --length;
  }
  if (length < 1 || length > ATTACHMENT_TOKEN_BYTES) return -ENOKEY;
  for (size_t i = 0; i < length; ++i) {
    if (begin[i] <= ' ' || begin[i] > '~') return -ENOKEY;
  }
  snprintf(header, ATTACHMENT_TOKEN_BYTES + 64, "Authorization: Bearer %.*s\r\n", (int)length,
           begin);
  return 0;
}

/* Asks over a connection (-1: a new one).  Returns it, or a negative errno, and it is closed. */
static inline int attachment_request_(int fd, const char* place, const char* head, const char* body,
                                      const attachment_token* token, uint64_t by_ms) {
  char authorization[ATTACHMENT_TOKEN_BYTES + 64];
  char request[ATTACHMENT_TOKEN_BYTES + 512];
  int flaw = attachment_authorize_(token, authorization);
  if (flaw == 0 && fd < 0) flaw = fd = attachment_connect_(place, by_ms);
  const int length =
      snprintf(request, sizeof request, "%s\r\nHost: localhost\r\n%sContent-Length: %zu\r\n\r\n%s",
               head, authorization, strlen(body), body);
  if (flaw >= 0 && (length < 0 || (size_t)length >= sizeof request)) flaw = -EINVAL;
  if (flaw >= 0 && send(fd, request, (size_t)length, MSG_NOSIGNAL) != length) flaw = -EPIPE;
  if (flaw >= 0) return fd;
  if (fd >= 0) close(fd);
  return flaw;
}

static inline int attachment_is_name_(const char* name) {
  const size_t length =
      strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._");
  return length >= 1 && length <= 64 && name[length] == '\0';
}

static inline int attachment_is_score_(int64_t score) {
  return -0x1FFFFFFFFFFFFF <= score && score <= 0x1FFFFFFFFFFFFF;
}

static inline int attachment_open_by(attachment* self, const char* place, const char* name,
                                     const int64_t* score, const attachment_token* token) {
  const uint64_t by_ms = attachment_now_ms_() + ATTACHMENT_TIMEOUT_MS;
  char worth[32] = "";
  char head[192]; /* HTTP/1.0, so that the answer is not cut into chunks */
  memset(self, 0, sizeof *self);
  self->fd = self->next.type = -1;
  if (!attachment_is_name_(name)) return -EINVAL;
  if (score != NULL && !attachment_is_score_(*score)) return -ERANGE;
  if (score != NULL) snprintf(worth, sizeof worth, "&score=%" PRId64, *score);
  snprintf(head, sizeof head, "POST /v1/application/attach?name=%s%s HTTP/1.0", name, worth);
  const int fd = attachment_request_(-1, place, head, "", token, by_ms);
  if (fd < 0) return fd;
  self->fd = fd;
  self->answer_by_ms = by_ms;
  return 0;
}

static inline uint64_t attachment_number_(const char* line, const char* key) {
  const char* const found = strstr(line, key);
  return found == NULL ? 0 : strtoull(found + strlen(key), NULL, 10);
}

/* One line of the head or of an event.  Returns 1 when it completes an event. */
static inline int attachment_line_(attachment* self, const char* line) {
  if (self->status == 0) {
    self->status = strncmp(line, "HTTP/", 5) == 0 && strlen(line) > 9 ? atoi(line + 9) : 500;
    self->next.type = -2; /* the rest of the head */
    return 0;
  }
  if (self->next.type == -2) {
    if (strncasecmp(line, "content-type: text/event-stream", 31) == 0) self->is_stream = 1;
    if (line[0] != '\0') return 0;
    self->next.type = -1;
    if (self->status < 200) self->status = 0; /* the answer is still to come */
    return 0;
  }
  if (strncmp(line, "event: ", 7) == 0) {
    self->next.type = strcmp(line + 7, "attached") == 0 ? ATTACHMENT_ATTACHED
                      : strcmp(line + 7, "lead") == 0   ? ATTACHMENT_LEAD
                      : strcmp(line + 7, "follow") == 0 ? ATTACHMENT_FOLLOW
                      : strcmp(line + 7, "drain") == 0  ? ATTACHMENT_DRAIN
                                                        : ATTACHMENT_OTHER;
  } else if (strncmp(line, "data: ", 6) == 0) {
    self->next.epoch = attachment_number_(line, "\"epoch\":");
    self->next.left_ms = attachment_number_(line, "\"left_ms\":");
    self->next.attachment = attachment_number_(line, "\"attachment\":");
    self->next.drain = attachment_number_(line, "\"drain\":");
  }
  return line[0] == '\0' && self->next.type >= 0;
}

/* Takes lines out of the buffer, until one completes an event. */
static inline int attachment_parse_(attachment* self, attachment_event* event) {
  for (;;) {
    char* const end = (char*)memchr(self->buffer, '\n', self->used);
    if (end == NULL) return self->used == sizeof self->buffer ? -EPROTO : -EAGAIN;
    size_t length = (size_t)(end - self->buffer);
    *end = '\0';
    if (length > 0 && self->buffer[length - 1] == '\r') self->buffer[length - 1] = '\0';
    const int is_event = attachment_line_(self, self->buffer);
    self->used -= length + 1;
    memmove(self->buffer, end + 1, self->used);
    if (self->status == 401 || self->status == 403) return -EACCES;
    if (self->status > 200) return -EPROTO;
    if (self->status == 200 && self->next.type != -2 && !self->is_stream) return -EPROTO;
    if (!is_event) continue;
    *event = self->next;
    memset(&self->next, 0, sizeof self->next);
    self->next.type = -1;
    return 0;
  }
}

static inline int attachment_next(attachment* self, attachment_event* event) {
  if (self->fd < 0) return -ECONNRESET;
  for (;;) {
    const int found = attachment_parse_(self, event);
    if (found != -EAGAIN) return found;
    const int is_answered = self->status == 200 && self->next.type != -2;
    if (!is_answered && attachment_now_ms_() >= self->answer_by_ms) return -ETIMEDOUT;
    const ssize_t got =
        recv(self->fd, self->buffer + self->used, sizeof self->buffer - self->used, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 && errno == EAGAIN ? -EAGAIN : -ECONNRESET;
    self->used += (size_t)got;
  }
}

/* The code of the answer (HTTP), or a negative errno; -EPIPE: the connection has ended without one.
 * Kept after a good answer that was read to its end, by headers as the sidecar writes them. */
static inline int attachment_answer_(int fd, uint64_t by_ms, int* is_kept) {
  char answer[ATTACHMENT_BUFFER_BYTES];
  size_t used = 0;
  size_t whole = sizeof answer; /* more than is read: not known yet */
  while (used < whole) {
    struct pollfd wait = {fd, POLLIN, 0};
    const int ready = poll(&wait, 1, attachment_left_ms_(by_ms));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return ready == 0 ? -ETIMEDOUT : -EPROTO;
    const ssize_t got = recv(fd, answer + used, sizeof answer - 1 - used, 0);
    if (got <= 0) return used == 0 ? -EPIPE : -EPROTO;
    used += (size_t)got;
    answer[used] = '\0';
    const char* const end = strstr(answer, "\r\n\r\n");
    if (end == NULL) continue;
    const char* const length = strstr(answer, "\r\nContent-Length: ");
    const int is_last = strstr(answer, "\r\nConnection: close") != NULL;
    if (strncmp(answer, "HTTP/1.1 200", 12) != 0 || is_last || length == NULL) break;
    whole = (size_t)(end + 4 - answer) + strtoul(length + 18, NULL, 10);
    *is_kept = used == whole;
  }
  return used < 12 ? -EPROTO : atoi(answer + 9); /* HTTP/1.1 200 */
}

/* 0, or the errno of the answer to a request; over the connection that is kept (NULL: none is).
 * The sidecar may have closed it: then once more over a new one, as all may be said twice. */
static inline int attachment_ask_(attachment_scorer* kept, const char* place, const char* head,
                                  const char* body, const attachment_token* token) {
  const uint64_t by_ms = attachment_now_ms_() + ATTACHMENT_TIMEOUT_MS;
  int status = -EPIPE;
  for (int was_kept = 1; was_kept && status == -EPIPE;) {
    int is_kept = 0;
    was_kept = kept != NULL && kept->fd >= 0;
    const int fd = attachment_request_(was_kept ? kept->fd : -1, place, head, body, token, by_ms);
    status = fd < 0 ? fd : attachment_answer_(fd, by_ms, &is_kept);
    if (kept != NULL) kept->fd = is_kept ? fd : -1;
    if (fd >= 0 && (kept == NULL || !is_kept)) close(fd);
  }
  return status == 200                    ? 0
         : status == 401 || status == 403 ? -EACCES
         : status == 404                  ? -ENOENT
         : status == 409                  ? -ESTALE
         : status == 429                  ? -EAGAIN
         : status >= 0                    ? -EPROTO
                                          : status;
}

static inline int attachment_scorer_tell(attachment_scorer* self, const char* place, int64_t score,
                                         const attachment_token* token) {
  char body[48];
  if (!attachment_is_score_(score)) return -ERANGE;
  snprintf(body, sizeof body, "{\"score\":%" PRId64 "}", score);
  return attachment_ask_(self, place, "PUT /v1/application/score HTTP/1.1", body, token);
}

static inline int attachment_drained_by(const char* place, const attachment_event* drain,
                                        const attachment_token* token) {
  char body[96];
  snprintf(body, sizeof body,
           "{\"epoch\":%" PRIu64 ",\"drain\":%" PRIu64 ",\"attachment\":%" PRIu64 "}", drain->epoch,
           drain->drain, drain->attachment);
  return attachment_ask_(NULL, place, "POST /v1/application/drained HTTP/1.1", body, token);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* BELLWETHER_ATTACHMENT_H */
