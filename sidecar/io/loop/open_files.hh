// How many files the process may have open, connections among them.
#pragma once

#include <cstdint>

namespace bellwether {

// More than all members, strangers, clients and files at once.
inline constexpr uint64_t kEnoughOpenFiles = 4096;

// With fewer, libraries end the process without a word, or a sidecar without peers cannot listen.
inline constexpr uint64_t kFewestOpenFiles = 32;

// How many a process may open once it has raised its soft limit as far as raise_open_files() does.
uint64_t raised_open_files(uint64_t soft, uint64_t hard);

// Raises the soft limit to kEnoughOpenFiles, or as far as the hard one lets it; a higher one stays.
// Returns what then holds; throws std::runtime_error when that is below kFewestOpenFiles.
uint64_t raise_open_files();

}  // namespace bellwether
