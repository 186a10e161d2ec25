// What a test's log says.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

namespace bellwether::test {

// What is written to stderr while it lives.
class StderrFile {
 public:
  StderrFile() { dup2(fileno(file_.get()), STDERR_FILENO); }
  ~StderrFile() {
    dup2(before_, STDERR_FILENO);
    close(before_);
  }
  StderrFile(const StderrFile&) = delete;
  StderrFile& operator=(const StderrFile&) = delete;

  std::string text() const {
    std::string text(1 << 20, '\0');
    const ssize_t size = pread(fileno(file_.get()), text.data(), text.size(), 0);
    text.resize(size < 0 ? 0 : static_cast<size_t>(size));
    return text;
  }

 private:
  int before_ = dup(STDERR_FILENO);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{std::tmpfile(), std::fclose};
};

}  // namespace bellwether::test
