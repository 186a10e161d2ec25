// A mapped page of a file that somebody may cut short.  To touch it then is SIGBUS, by default the
// end of the process; instead the page is replaced by an empty one of no file, and the cut is
// noted.
#pragma once

#include <cstddef>

namespace bellwether::io {

class RescuedPage {
 public:
  // `page` has `bytes` and stays mapped as long as this object lives, of which there are at most
  // four at a time.  The threads that touch it must not block SIGBUS.
  RescuedPage(void* page, size_t bytes);
  ~RescuedPage();
  RescuedPage(const RescuedPage&) = delete;
  RescuedPage& operator=(const RescuedPage&) = delete;

  // What is at its address is not the file's any more.
  bool is_lost() const;

 private:
  size_t place_ = 0;
};

}  // namespace bellwether::io
