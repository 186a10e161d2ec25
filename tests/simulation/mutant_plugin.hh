// The bully plugin with one rule broken, to show that the simulator notices.  A test double: it
// stands between the host and the real plugin and falsifies what passes.
#pragma once

#include <bellwether/election_plugin.h>

namespace bellwether::tests {

enum class PluginRule {
  kHaltTimer,       // who is halted starts itself when nothing comes of the election
  kEchoRound,       // an answer names the round that it answers
  kAskStillHigher,  // the candidate asks the higher ranks that were not asked before it claims
};

const election_plugin& plugin_without(PluginRule rule);

}  // namespace bellwether::tests
