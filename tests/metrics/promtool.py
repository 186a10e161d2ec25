"""Pipes the metrics' text through `promtool check metrics`, which must not complain.

usage: promtool.py PROGRAM    (PROGRAM prints the text)
"""

import shutil
import subprocess
import sys

SKIPPED = 77


def main(program):
    promtool = shutil.which("promtool")
    if promtool is None:
        print("skipped: there is no promtool here (Debian: package prometheus)")
        return SKIPPED
    text = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    result = subprocess.run([promtool, "check", "metrics"], input=text, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    print(result.stdout, end="")
    return 1 if result.returncode != 0 or result.stdout.strip() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
