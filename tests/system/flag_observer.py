"""flag_observer.c at work: what applications see of several flags, and when."""

import subprocess
import threading

ENDS_WITHIN_S = 30


class FlagObserver:
    """The program and its lines, as they come."""

    def __init__(self, program, files, pause_us=50):
        self.process = subprocess.Popen([program, "--pause-us", str(pause_us), *files],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.changes = []  # (ns, number of the flag, is on, epoch)
        self.doubles = []  # (ns, one flag's number, its epoch, the other's, its epoch)
        self.gaps = []  # (ns at which it looked, ns until it looked again), where that was long
        self.looks = None  # (how many, in how many ns); known when it is closed
        self.lock = threading.Lock()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            words = line.split()
            with self.lock:
                if words[0] == "double":
                    self.doubles.append(tuple(map(int, words[1:])))
                elif words[0] == "gap":
                    self.gaps.append(tuple(map(int, words[1:])))
                elif words[0] == "looks":
                    self.looks = tuple(map(int, words[1:]))
                else:
                    time_ns, flag, is_on, epoch = map(int, words)
                    self.changes.append((time_ns, flag, bool(is_on), epoch))

    def is_on(self, flag):
        """As it was seen last."""
        with self.lock:
            return next((on for _, number, on, _ in reversed(self.changes) if number == flag),
                        False)

    def first(self, flag, is_on, after_ns):
        """When this flag went on or off for the first time after a moment; None: not yet."""
        with self.lock:
            for time_ns, number, on, _ in self.changes:
                if number == flag and on == is_on and time_ns >= after_ns:
                    return time_ns
        return None

    def first_on(self, after_ns, but=None):
        """(ns, flag) of the first flag that went on after a moment, except `but`."""
        with self.lock:
            for time_ns, number, on, _ in self.changes:
                if on and time_ns >= after_ns and number != but:
                    return time_ns, number
        return None

    def first_reign(self, epoch):
        """(ns, flag) of the first flag that was on in a later epoch; None: not yet."""
        with self.lock:
            for time_ns, number, on, seen in self.changes:
                if on and seen > epoch:
                    return time_ns, number
        return None

    def last_off(self, flag, before_ns):
        """When this flag went off for the last time before a moment; None: never."""
        with self.lock:
            for time_ns, number, on, _ in reversed(self.changes):
                if number == flag and not on and time_ns <= before_ns:
                    return time_ns
        return None

    def longest_gap_ns(self, since_ns, until_ns):
        """The longest time within these moments in which nobody looked; 0: all are short."""
        with self.lock:
            return max((min(began_ns + length_ns, until_ns) - max(began_ns, since_ns)
                        for began_ns, length_ns in self.gaps
                        if began_ns < until_ns and began_ns + length_ns > since_ns), default=0)

    def doubles_since(self, after_ns, flags=None):
        """All, or those in which one of these flags was on."""
        with self.lock:
            return [double for double in self.doubles if double[0] >= after_ns and
                    (flags is None or not {double[1], double[3]}.isdisjoint(flags))]

    def close(self):
        self.process.stdin.close()
        self.process.wait(ENDS_WITHIN_S)
        self.reader.join()
        self.process.stdout.close()
