/* Says what the application is worth, for score_test.py.
 *
 *   scorer PLACE SCORE [TOKEN]: exits with 0, or with the errno */
#define _GNU_SOURCE
#include <bellwether/attachment.h>

int main(int count, char** arguments) {
  if (count != 3 && count != 4) return 2;
  const attachment_token token = {.text = arguments[3]};
  return -attachment_score_by(arguments[1], strtoll(arguments[2], NULL, 10),
                              count == 4 ? &token : NULL);
}
