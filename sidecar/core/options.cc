// The profiles: sets of options that belong together.
#include "core/options.hh"

namespace bellwether {

Options textbook_options() {
  Options options;
  options.query_first = false;
  options.sticky = false;
  options.skip_suspected = false;
  options.stagger = false;
  return options;
}

}  // namespace bellwether
