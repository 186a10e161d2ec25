// Whole files of text, read and written at once.
#pragma once

#include <functional>
#include <string>

namespace bellwether::cli {

// Throws std::system_error, whose what() names the file and the reason.
std::string read_text_file(const std::string& path);

// What `read` reads of a configuration.  Where `path` is the usual one, which nobody has named, and
// it is missing, the error says how to name another.
std::string read_configuration(const std::string& path, const std::function<std::string()>& read);

// Replaces the contents: whoever reads the file, and whenever the machine dies, finds the old text
// or the new one.  A file that is not a regular one (/dev/stdout, a pipe) is simply written to.
// Throws std::system_error.
void write_text_file(const std::string& path, const std::string& text);

}  // namespace bellwether::cli
