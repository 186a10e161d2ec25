#!/usr/bin/env python3
"""Searches the models of this folder with spin and compares each verdict with the expected one.

usage: run.py [--quick | --full | --list] [WORD...]

  --quick   the small checks (the default): what CI runs, three minutes
  --full    these and the large ones: ten minutes, 4 GB of memory
  --list    names the checks, and runs none
  WORD      only the checks with one of these words in their model's or their own name

A check is one model with some options.  "holds" means that all its states were visited and no
rule was broken; "fails" that a broken rule was found, as it must be where the options leave a rule
of the protocol out.  Searches are exact: no hash compaction, which skips states silently.  Exits
with 1 on any surprise; a search that ran out of memory, depth or time is one.
"""

import argparse
import dataclasses
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
HOLDS, FAILS, UNFINISHED = "holds", "fails", "unfinished"
MAX_DEPTH = 2_000_000
QUICK_MEMORY_MB, FULL_MEMORY_MB = 2000, 6000
QUICK_PROCESSOR_S, FULL_PROCESSOR_S = 120, 1800  # not by the clock: a busy machine is no surprise


@dataclasses.dataclass(frozen=True)
class Check:
    """One model, its options, and what must come out."""
    model: str
    name: str
    options: str
    expected: str = HOLDS
    is_large: bool = False


def election_checks():
    """Layer A."""
    variants = (("classic", ""), ("modified", "-DMODIFIED"))
    for processes in (3, 4, 5):
        for variant, option in variants:
            yield Check("election", f"{variant}: cost of {processes}",
                        f"-DSINGLE -DN={processes} {option}")
    for variant, option in variants:
        yield Check("election", f"{variant}: the cost is reached",
                    f"-DSINGLE -DLESS_THAN_WORST -DN=4 {option}", FAILS)
        for processes in (3, 4):
            yield Check("election", f"{variant}: two of {processes} crash",
                        f"-DCRASHES=2 -DN={processes} {option}")
        yield Check("election", f"{variant}: no guard, leader cut off",
                    f"-DCUT_OFF {option}", FAILS)
    yield Check("election", "no halt timer", "-DMODIFIED -DN=4 -DCRASHES=1 -DNO_HALT_TIMER", FAILS)


def settle_checks():
    """Liveness."""
    small = "-DHIGHEST_STORED=1"
    yield Check("settle", "one leader, and it stays", small)
    yield Check("settle", "the same with two stored epochs", "", is_large=True)
    yield Check("settle", "no stickiness", f"{small} -DNOT_STICKY", FAILS)
    yield Check("settle", "no canvass", f"{small} -DNO_CANVASS", FAILS)
    yield Check("settle", "no preemption delay", f"{small} -DTAKE_OVER_AT_ONCE", FAILS)
    yield Check("settle", "a leader without lease still beats",
                f"{small} -DBEATS_AFTER_LEASE", FAILS)
    yield Check("settle", "first epochs that are days apart", f"{small} -DDAYS_APART")
    yield Check("settle", "far epochs are refused", f"{small} -DDAYS_APART -DFAR_IS_REFUSED", FAILS)


def guard_checks():
    """Safety of three voters."""
    tight = "-DPROMISE=1"
    calm = "-DCRASHES=0"
    one_epoch = f"{tight} -DEPOCHS=1"
    yield Check("guard", "two epochs, a crash", tight)
    yield Check("guard", "promise longer than lease", "", is_large=True)
    yield Check("guard", "refused is a proof", f"{tight} -DREFUSED", is_large=True)
    yield Check("guard", "the disk takes its time", f"{tight} -DSLOW_DISK", is_large=True)
    for fault, option in (("a disk is lost", "-DLOST_DISK"), ("a disk fails", "-DFAILING_DISK"),
                          ("a state is doubted", "-DDOUBT")):
        yield Check("guard", f"{fault}, one epoch", f"{one_epoch} {option}")
        yield Check("guard", fault, f"{tight} {option}", is_large=True)
    yield Check("guard", "two crashes", f"{tight} -DCRASHES=2", is_large=True)
    yield Check("guard", "three epochs", f"{tight} -DEPOCHS=3 {calm}", is_large=True)
    yield Check("guard", "longer lease", f"-DLEASE=2 -DPROMISE=2 {calm}", is_large=True)
    yield Check("guard", "clocks drift", f"-DDRIFT {calm}", is_large=True)

    def mutant(name, options, is_large=False):
        return Check("guard", name, options, FAILS, is_large)
    yield mutant("no guard: an epoch is led twice", f"{tight} -DGUARD_NONE")
    yield mutant("no guard: two flags", f"{tight} -DGUARD_NONE -DONLY_FLAGS")
    yield mutant("no wait for older promises", f"{tight} -DNO_WAIT")
    yield mutant("promises are not stored", f"{one_epoch} -DNO_PERSIST")
    yield mutant("no boot wait", f"{tight} -DNO_BOOT_WAIT")
    yield mutant("lease from the receipt of the ack", f"{tight} -DLEASE_FROM_RECEIPT")
    yield mutant("promise by an own, shorter lease", f"-DLEASE=2 -DPROMISE=1 {calm}")
    yield mutant("clocks drift too far", f"-DDRIFT -DPROMISE=1 {calm}")
    yield mutant("flag off after the release", f"{tight} -DFLAG_OFF_LATE")
    yield mutant("release without epoch", f"{tight} -DEPOCHS=3 {calm} -DRELEASE_WITHOUT_EPOCH")
    yield mutant("release before it is stored", f"{tight} -DSLOW_DISK -DRELEASE_BEFORE_PERSIST")
    yield mutant("grant before it is stored", f"{one_epoch} -DSLOW_DISK -DGRANT_BEFORE_PERSIST")
    yield mutant("vote is back, unstored", f"{one_epoch} -DFAILING_DISK -DBACK_UNSTORED")
    yield mutant("refused, and yet alive", f"{tight} -DFALSE_REFUSAL")
    yield mutant("refused, and held against the next life", f"{tight} -DREFUSED -DPROOF_KEPT")
    yield mutant("refused, and the flag survives", f"{tight} -DREFUSED -DFLAG_SURVIVES")
    yield mutant("lost state: one is asked", f"{one_epoch} -DLOST_DISK -DASK_ONE")
    yield mutant("lost state: late vote for any", f"{one_epoch} -DLOST_DISK -DLATE_VOTE_FOR_ANY")
    yield mutant("lost state: same identity", f"{tight} -DLOST_DISK -DSAME_IDENTITY", True)
    yield mutant("doubted state: nobody is asked", f"{one_epoch} -DDOUBT -DASK_NOBODY")
    yield mutant("doubted state: releases unlearnt", f"{tight} -DDOUBT -DFORGET_RELEASE", True)


def memory_checks():
    """What a voter's next life knows of its promises."""
    yield Check("memory", "leases are forgotten, and others stored", "")
    yield Check("memory", "promised before it is stored", "-DPROMISE_UNSTORED", FAILS)
    yield Check("memory", "forgotten before the wait is over", "-DFORGET_EARLY", FAILS)
    yield Check("memory", "forgotten in the same life", "-DFORGET_OWN", FAILS)
    yield Check("memory", "taken for the longer while it is written", "-DFORGET_UNNOTED", FAILS)


def lost_state_checks():
    """S1 of five voters that lose disks."""
    yield Check("lost_state", "two of five disks are lost", "")
    yield Check("lost_state", "five disks, one after the other", "-DROLLING -DLOSSES=5",
                is_large=True)
    yield Check("lost_state", "two of three disks are lost", "-DTHREE")
    yield Check("lost_state", "four times a disk of three", "-DTHREE -DLOSSES=4")
    yield Check("lost_state", "guessed without the clock", "-DTHREE -DNO_CLOCK", FAILS)
    yield Check("lost_state", "guessed without it if untold", "-DTHREE -DNO_CLOCK_IF_UNTOLD", FAILS)
    yield Check("lost_state", "asked before the wait", "-DASK_FIRST", FAILS)
    yield Check("lost_state", "too few are asked", "-DASK_TOO_FEW", FAILS)
    yield Check("lost_state", "activated without a lease", "-DNO_LEASE", FAILS)
    yield Check("lost_state", "late vote for any claim", "-DLATE_VOTE_FOR_ANY", FAILS)
    yield Check("lost_state", "older identity still votes", "-DLOSSES=1 -DOLDER_VOTES", FAILS)


def store_checks():
    """A record in a store."""
    two, calm = "-DN=2", "-DCRASHES=0"
    edited = f"{calm} -DDELS=1 -DEDIT"
    short = "-DLATES=0 -DLEAN"
    yield Check("store", "two members, a crash, somebody leads", f"{two} -DLIVE")
    yield Check("store", "the same, and the record is nobody's own", f"{two} -DLIVE -DNO_OWN")
    yield Check("store", "the record is deleted, or edited", f"{two} {edited} -DLATES=1")
    yield Check("store", "the record is deleted, somebody leads",
                f"{two} -DLIVE -DDELS=1 {calm} -DLATES=1 -DLEAN")
    yield Check("store", "proofs that a holder has ended", f"{two} -DPROOF")
    yield Check("store", "another client of the record", f"{two} -DFOREIGN {calm}")
    yield Check("store", "clocks at half speed", f"{two} -DRATE=2 -DDL=1 -DDF=2 {calm} -DLATES=1")
    yield Check("store", "three members, no late request", f"{short} {calm}")
    yield Check("store", "three epochs", f"{two} -DEMAX=3", is_large=True)
    yield Check("store", "two deletions and edits", f"{two} -DDELS=2 -DEDIT -DLATES=1",
                is_large=True)
    yield Check("store", "two crashes, proofs", f"{two} -DPROOF -DCRASHES=2", is_large=True)
    yield Check("store", "clocks wrong by 11 %",
                f"{two} -DRATE=5 -DDL=4 -DDF=5 {calm} -DLATES=0", is_large=True)
    yield Check("store", "three members, a crash, proofs", f"{short} -DPROOF", is_large=True)
    yield Check("store", "three members, one late request", f"{calm} -DLATES=1", is_large=True)

    def mutant(name, options, is_large=False):
        return Check("store", name, options, FAILS, is_large)
    flags = f"{two} -DEMAX=3 -DLATES=1 -DONLY_S2"
    yield mutant("writes without a condition", f"{flags} -DNO_COND")
    yield mutant("any release counts", f"{flags} -DNOTAG")
    yield mutant("the id alone says who holds it", f"{flags} -DID_ALONE")
    yield mutant("no wait for the length", f"{flags} -DNO_WAIT")
    yield mutant("the wait counts from the request", f"{two} {calm} -DWAIT_FROM_REQUEST")
    yield mutant("the flag counts from the answer", f"{flags} -DLEASE_FROM_ANSWER")
    yield mutant("leads before the answer", f"{flags} -DEARLY_FLAG")
    yield mutant("late answers count", f"{flags} -DLATE_ANSWER")
    yield mutant("an epoch given up is led again", f"{flags} -DRESUME")
    yield mutant("hands over with its flag on", f"{flags} -DHAND_FLAG_ON")
    yield mutant("the hand-over names the next epoch", f"{flags} -DHAND_NEXT")
    yield mutant("hands over what its successor has claimed", f"{flags} -DGIVES_ANY")
    yield mutant("the epoch is not stored", f"{flags} -DNO_STORE")
    yield mutant("the flag survives", f"{flags} -DFLAG_SURVIVES -DPROOF")
    yield mutant("dead, and yet alive", f"{flags} -DPROOF_FALSE")
    yield mutant("a proof is held against the next life",
                 f"{two} -DEMAX=3 {short} -DPROOF_KEPT")
    yield mutant("whoever makes the record leads", f"{flags} {edited} -DMAKE_CLAIMS")
    yield mutant("a new record is anybody's", f"{flags} {edited} -DNO_VF")
    yield mutant("an empty holder is a release", f"{flags} {edited} -DEDIT_IS_RELEASE")
    yield mutant("a shortened length counts", f"{flags} {edited} -DLEN_RECORD")
    yield mutant("clocks drift too far", f"{two} -DRATE=2 -DDL=1 -DDF=1 {calm} -DLATES=0")
    yield mutant("clocks wrong by 11 %, no margin",
                 f"{two} -DRATE=5 -DDL=4 -DDF=4 {calm} -DLATES=0", True)
    yield mutant("a new record's epoch without the clock",
                 f"{two} -DEMAX=3 -DLATES=1 {calm} -DDELS=1 -DSEED_KNOWN")
    yield mutant("leads below what it has heard", f"{two} -DEMAX=3 {short} {calm} -DNO_S3")
    yield mutant("all wait for one that is cut off", f"{two} -DLIVE -DNO_ELECTABLE")
    yield mutant("a lease never ends", f"{two} -DLIVE -DNO_EXPIRY")
    yield mutant("nobody makes the record", f"{two} -DLIVE -DDELS=1 {calm} -DNO_MAKE")


def all_checks():
    return [*election_checks(), *settle_checks(), *guard_checks(), *memory_checks(),
            *lost_state_checks(), *store_checks()]


def compiler_options_of(check):
    """How the search is compiled: a short one is over before an optimised one is compiled.

    What goes wrong with a record in a store does so within few steps: a search in breadth finds it
    long before one in depth, and by the shortest way.  The other models go wrong deep down.  States
    are kept as they are (NOCOMP): leaving out what never changes takes longer, and saves memory
    that a small check does not need.
    """
    if check.is_large:
        return ["-O2"]
    if check.model == "store" and check.expected == FAILS:
        return ["-O0", "-DBFS"]
    is_short = {"-DEPOCHS=1", "-DTHREE"} & set(check.options.split())
    return ["-O0"] if check.model == "election" or is_short else ["-O1", "-DNOCOMP"]


def search(check):
    """(verdict, states, what spin says)"""
    processor_s = FULL_PROCESSOR_S if check.is_large else QUICK_PROCESSOR_S
    memory_mb = FULL_MEMORY_MB if check.is_large else QUICK_MEMORY_MB
    with tempfile.TemporaryDirectory(prefix="bellwether-model.") as folder:
        def run(*words):
            limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (processor_s, processor_s))
            return subprocess.run(words, cwd=folder, text=True, check=False, preexec_fn=limit,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            made = run("spin", "-a", *check.options.split(), str(HERE / f"{check.model}.pml"))
            if made.returncode != 0 or not pathlib.Path(folder, "pan.c").exists():
                return UNFINISHED, 0, made.stdout
            compiled = run("cc", *compiler_options_of(check), "-w", "-DSAFETY", "-DNOREDUCE",
                           "-DVECTORSZ=1024", f"-DMEMLIM={memory_mb}", "-o", "pan", "pan.c")
            if compiled.returncode != 0:
                return UNFINISHED, 0, compiled.stdout
            output = run("./pan", f"-m{MAX_DEPTH}", f"-w{26 if check.is_large else 22}").stdout
        except FileNotFoundError as error:
            sys.exit(f"{error.filename} is missing; tests/packages.sh names the packages")
    return verdict_of(output)


def verdict_of(output):
    errors = re.search(r"errors: (\d+)", output)
    states = re.search(r"([\d.e+]+) states, stored", output)
    if not errors or not states:
        return UNFINISHED, 0, output
    count = int(float(states[1]))
    if int(errors[1]) > 0:
        broken = re.search(r"pan:1: (assertion violated|invalid end state).*", output)
        return (FAILS, count, broken[0]) if broken else (UNFINISHED, count, output)
    # These words come with "errors: 0".
    if re.search(r"out of memory|max search depth too small|MEMLIM|Search not completed", output):
        return UNFINISHED, count, output
    return HOLDS, count, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true")
    size.add_argument("--full", action="store_true")
    size.add_argument("--list", action="store_true")
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    checks = [check for check in all_checks()
              if (arguments.full or arguments.list or not check.is_large) and
              (not arguments.words or
               any(word in f"{check.model}: {check.name}" for word in arguments.words))]
    if not checks:
        sys.exit("no check has such a name")
    surprises = 0
    print(f"{'check':<60} {'verdict':<10} {'states':>11} {'seconds':>7}")
    for check in checks:
        title = f"{check.model}: {check.name}"
        if arguments.list:
            print(f"{title:<60} {check.expected:<10} {'large' if check.is_large else 'small':>11}")
            continue
        start = time.monotonic()
        verdict, states, words = search(check)
        seconds = time.monotonic() - start
        print(f"{title:<60} {verdict:<10} {states:>11,} {seconds:>7.1f}", flush=True)
        if verdict != check.expected:
            surprises += 1
            print(f"  SURPRISE: expected {check.expected}; options: {check.options}\n{words}")
    if not arguments.list:
        print(f"{len(checks)} checks, {surprises} surprises")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
