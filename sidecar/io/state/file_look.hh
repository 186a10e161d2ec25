// A file that others find by its path, flag or socket, is looked at again and again, and made again
// when somebody has taken it away.
#pragma once

#include <string>

namespace bellwether {

// What a look found.
struct FileLook {
  std::string loss{};  // what had happened to it, as in "was removed"; empty: it was in its place
  std::string flaw{};  // why it could not be made again, with a remedy; empty: it is there
  // Others may have the folder before mounted, and will not see what is made in the new one.
  bool is_folder_new = false;
};

}  // namespace bellwether
