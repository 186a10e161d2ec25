// What a program that ends has to say on stderr.
#pragma once

#include <string_view>

namespace bellwether::cli {

// Writes the text, unless the reader of stderr has come to a halt for a second: an end must not
// wait for somebody who listens.  One thread at a time.
void write_to_stderr(std::string_view text);

}  // namespace bellwether::cli
