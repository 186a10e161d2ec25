/* A plugin without fault, unless FLAW spoils a field of its table: FLAW sets the field a second
 * time, and the last one counts.  tests/abi/CMakeLists.txt builds this file once for each flaw. */
#include <bellwether/election_plugin.h>

#include "idle.inc"

#ifndef FLAW
#define FLAW .reserved = 0
#endif

#pragma GCC diagnostic ignored "-Woverride-init"

const election_plugin bellwether_election_plugin = {
    .abi_major = ELECTION_ABI_MAJOR,
    .abi_minor = ELECTION_ABI_MINOR,
    .size = sizeof(election_plugin),
    .name = "test",
    .version = "1.2.3",
    .variants = variants,
    .create = create,
    .destroy = destroy,
    .step = step,
    .extension = extension,
    FLAW,
};
