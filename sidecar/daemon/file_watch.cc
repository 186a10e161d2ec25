// The lines.
#include "daemon/file_watch.hh"

#include <utility>

namespace bellwether::daemon {

FileWatch::FileWatch(Log& log, std::string what, std::string path)
    : log_(log), what_(std::move(what)), path_(std::move(path)) {}

bool FileWatch::on_look(FileLook look, const std::string& made_good,
                        const std::string& not_made_good) {
  const bool was_there = flaw_.empty();
  const bool is_there = look.flaw.empty();
  const bool is_lost = was_there && !look.loss.empty();
  if (is_lost) {
    log_.write(
        LogLevel::kError, what_ + " " + look.loss,
        {{"file", path_},
         {"now", is_there ? "it is in its place again" + made_good : not_made_good + look.flaw}});
  } else if (is_there && !was_there) {
    log_.write(LogLevel::kInfo, what_ + " is in its place again", {{"file", path_}});
  }
  flaw_ = std::move(look.flaw);
  return is_lost;
}

}  // namespace bellwether::daemon
