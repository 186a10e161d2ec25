"""The reader of the flag of one language at work; probe.c tells what it is asked and answers."""

import json
import subprocess


class Probe:
    """A context manager; `command` runs the language's program."""

    command = ()

    def __init__(self, prefix=()):
        self.process = subprocess.Popen([*prefix, *Probe.command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.process.kill()
        self.process.communicate()

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def answer(self):
        return json.loads(self.process.stdout.readline())

    def ask(self, command):
        self.tell(command)
        return self.answer()

    def open(self, path):
        """What kind of error; empty: none."""
        return self.ask(f"open {path}")["error"]

    def open_of(self, owner, path):
        """The same, of a file that must be this user's."""
        return self.ask(f"open_of {owner} {path}")["error"]
