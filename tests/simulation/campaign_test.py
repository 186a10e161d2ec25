#!/usr/bin/env python3
"""campaign.py names the seeds that fail, crash or end without a word, and goes on behind them."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CAMPAIGN = pathlib.Path(__file__).with_name("campaign.py")

# Fails with 103 and 107, is killed by 112, and ends without a word at 125.
FAKE = """#!/usr/bin/env python3
import os, signal, sys
with open(__file__ + ".calls", "a") as calls:
    calls.write(sys.argv[-1] + "\\n")
first, last = map(int, sys.argv[-1].split(".."))
if first <= 112 <= last:
    os.kill(os.getpid(), signal.SIGSEGV)
if first <= 125 <= last:
    sys.exit(1)
failed = [seed for seed in (103, 107) if first <= seed <= last]
count = last - first + 1
print(f"classic: {count} schedules, {2 * count} elections, {3 * count} faults, "
      f"1 s of virtual time, {len(failed)} failed, in 0.1 s")
if failed:
    print(f"FAILED  classic, seed {failed[0]}")
sys.exit(1 if failed else 0)
"""


class CampaignTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.fake = self.folder / "fake"
        self.fake.write_text(FAKE)
        self.fake.chmod(0o755)

    def campaign(self, *options):
        return subprocess.run(
            [sys.executable, CAMPAIGN, "--bellwether", self.fake, "--guards", "none", "--variants",
             "classic", "--first-seed", "100", "--schedules", "30", "--chunk", "10", "--jobs", "2",
             *options], capture_output=True, text=True, check=False)

    def test_seeds_that_fail_or_crash_are_named_and_the_rest_is_run(self):
        done = self.campaign()
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("| none | classic | 30 | 56 | 84 | 103, 107, 112, 125 |", done.stdout)
        self.assertIn("seed 103 failed: ", done.stdout)
        self.assertIn("seed 112 ended with -11: ", done.stdout)
        self.assertIn("seed 125 ended with 1: ", done.stdout)
        self.assertIn("--guard none --variant classic --jobs 1 --fault-seeds 112", done.stdout)

    def test_a_campaign_goes_on_where_it_was(self):
        journal = self.folder / "journal"
        first = self.campaign("--journal", journal)
        lines = journal.read_text().splitlines()
        self.assertEqual(len(lines), 4)
        # As if it had been killed while it wrote the last.
        journal.write_text("\n".join(lines[:3]) + "\n" + lines[3][:20] + "\n")
        calls = pathlib.Path(str(self.fake) + ".calls")
        calls.unlink()
        again = self.campaign("--journal", journal)
        self.assertEqual([row.rsplit("|", 2)[0] for row in again.stdout.splitlines()],
                         [row.rsplit("|", 2)[0] for row in first.stdout.splitlines()])
        begun = {(int(call.split("..")[0]) - 100) // 10 for call in calls.read_text().split()}
        self.assertEqual(len(begun), 1, "one chunk was left")

    def test_a_journal_of_another_build_is_refused(self):
        journal = self.folder / "journal"
        self.campaign("--journal", journal)
        self.fake.write_text(FAKE + "\n")
        done = self.campaign("--journal", journal)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is of another build", done.stderr)

    def test_what_is_no_program_is_refused(self):
        done = self.campaign("--bellwether", "/nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--bellwether", done.stderr)


if __name__ == "__main__":
    unittest.main()
