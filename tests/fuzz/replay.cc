// Runs a fuzz target over the files of a corpus, without a fuzzer: what was once found stays
// found, with every compiler and sanitizer.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::fputs("usage: replay CORPUS_FOLDER\n", stderr);
    return 2;
  }
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[1])) {
    // Before it runs, for a crash tells nothing.
    std::printf("%s\n", entry.path().filename().c_str());
    std::fflush(stdout);
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    if (!file.good() && !file.eof()) return 1;
    const std::vector<uint8_t> input(bytes.begin(), bytes.end());
    LLVMFuzzerTestOneInput(input.data(), input.size());
    ++count;
  }
  std::printf("%d files\n", count);
  return count > 0 ? 0 : 1;
}
