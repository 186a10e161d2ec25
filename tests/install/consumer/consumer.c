/* A user of the installed plugin header, in C. */
#include <bellwether/election_plugin.h>
#include <stdio.h>

int main(void) {
  const election_member member = {.marks = ELECTION_MEMBER_ELECTABLE};
  printf("C: plugin ABI %u.%u, %zu bytes a member\n", ELECTION_ABI_MAJOR, ELECTION_ABI_MINOR,
         sizeof member);
  return member.priority == 0 ? 0 : 1;
}
