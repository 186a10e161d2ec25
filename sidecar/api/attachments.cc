// While something is written the list is out of reach, as in waiting_clients.cc.
#include "api/attachments.hh"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/ascii.hh"

namespace bellwether::api {

bool is_attachment_name(std::string_view name) {
  constexpr size_t kMaxName = 64;
  return !name.empty() && name.size() <= kMaxName && std::ranges::all_of(name, [](char c) {
    return is_alphanumeric(c) || c == '-' || c == '.' || c == '_';
  });
}

bool Attachments::open(Exchange exchange, const std::string& name, std::string token,
                       std::string_view events, Instant now) {
  exchange.begin_stream("text/event-stream");
  if (!exchange.write(events)) return false;
  if (all_.empty()) next_comment_ = now + kCommentInterval;
  all_.push_back({name, std::move(token), std::move(exchange)});
  return true;
}

// Whoever has gone stays until drop_gone(), which tells of it.
void Attachments::send(std::string_view event) {
  std::vector<Attachment> all = std::exchange(all_, {});
  for (Attachment& attachment : all) attachment.exchange.write(event);
  all_.insert(all_.begin(), std::make_move_iterator(all.begin()),
              std::make_move_iterator(all.end()));
}

bool Attachments::end_unless_allowed(const Authority& authority) {
  std::vector<Attachment> ended;
  std::erase_if(all_, [&](Attachment& attachment) {
    if (authority.is_in_force(attachment.token)) return false;
    ended.push_back(std::move(attachment));
    return true;
  });
  for (Attachment& attachment : ended) attachment.exchange.end_stream();
  return !ended.empty();
}

bool Attachments::drop_gone() {
  return std::erase_if(
             all_, [](const Attachment& attachment) { return !attachment.exchange.is_open(); }) > 0;
}

std::vector<std::string> Attachments::names() const {
  std::vector<std::string> names;
  for (const Attachment& attachment : all_) names.push_back(attachment.name);
  return names;
}

void Attachments::on_time(Instant now) {
  if (deadline() > now) return;
  next_comment_ = now + kCommentInterval;
  send(":\n\n");
}

}  // namespace bellwether::api
