// The verbs of the network: how connections behave, who does not hear whom, and what is lost, late,
// or ended by a proxy.  Their syntax and their help stand in the table of scenario_verbs.cc.
#pragma once

#include "simulator/scenario_runner.hh"

namespace bellwether::simulator {

void run_link(ScenarioRunner& runner, Words& words);
void run_partition(ScenarioRunner& runner, Words& words);
void run_cut(ScenarioRunner& runner, Words& words);
void run_heal(ScenarioRunner& runner, Words& words);
void run_reset(ScenarioRunner& runner, Words& words);
void run_proxy(ScenarioRunner& runner, Words& words);
void run_hold(ScenarioRunner& runner, Words& words);
void run_release(ScenarioRunner& runner, Words& words);
void run_drop(ScenarioRunner& runner, Words& words);

}  // namespace bellwether::simulator
