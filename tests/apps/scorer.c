/* Says what the application is worth, for score_test.py.
 *
 *   scorer PLACE SCORE [TOKEN]: exits with 0, or with the errno
 *   scorer PLACE - [TOKEN]: each line of its input is a score, and is answered by a line with 0 or
 *     the errno; all go over a connection that is kept */
#define _GNU_SOURCE
#include <bellwether/attachment.h>

static void tell_all(const char* place, const attachment_token* token) {
  attachment_scorer scorer = ATTACHMENT_SCORER_CLOSED;
  char line[64];
  while (fgets(line, sizeof line, stdin) != NULL) {
    printf("%d\n", -attachment_scorer_tell(&scorer, place, strtoll(line, NULL, 10), token));
    fflush(stdout);
  }
  attachment_scorer_close(&scorer);
}

int main(int count, char** arguments) {
  if (count != 3 && count != 4) return 2;
  const attachment_token given = {.text = arguments[3]};
  const attachment_token* token = count == 4 ? &given : NULL;
  if (strcmp(arguments[2], "-") != 0) {
    return -attachment_score_by(arguments[1], strtoll(arguments[2], NULL, 10), token);
  }
  tell_all(arguments[1], token);
  return 0;
}
