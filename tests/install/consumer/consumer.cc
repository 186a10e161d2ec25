// A user of the installed plugin header, in C++.
#include <bellwether/election_plugin.h>

#include <iostream>

int main() {
  const election_member member{.id = {}, .priority = 0, .marks = 0, .reserved = 0};
  std::cout << "C++: plugin ABI " << ELECTION_ABI_MAJOR << '.' << ELECTION_ABI_MINOR << ", "
            << sizeof member << " bytes a member\n";
  return member.priority == 0 ? 0 : 1;
}
