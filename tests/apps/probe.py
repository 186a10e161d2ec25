#!/usr/bin/env python3
"""What the Python reader of the flag sees; the commands and answers are those of probe.c."""

import json
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples/apps/python"))
import leader_flag  # pylint: disable=wrong-import-position

KINDS = {FileNotFoundError: "missing", leader_flag.NotReady: "not ready",
         leader_flag.NotAFlag: "not a flag", leader_flag.UnknownVersion: "unknown version",
         leader_flag.NotTrusted: "not trusted"}


def is_torn(seen):
    leader_id = struct.pack("=QQ", seen.epoch * 0x9e3779b97f4a7c15 % 2**64, ~seen.epoch % 2**64)
    leads = seen.epoch % 2 == 1
    return (seen.leader_id.bytes != leader_id or (seen.role == leader_flag.LEADER) != leads or
            seen.fencing_token != (seen.epoch if leads else 0))


def watch(flag, max_states, max_reads):
    states = torn = reads = 0
    while states < max_states and reads < max_reads:
        seen = flag.read()
        reads += 1
        if seen.role != leader_flag.UNKNOWN:
            states += 1
            torn += is_torn(seen)
    return {"states": states, "torn": torn, "reads": reads}


def main():
    flag = None
    for line in sys.stdin:
        command, *arguments = line.split()
        if command in ("open", "open_of"):
            try:
                flag = leader_flag.LeaderFlag(arguments[-1], *map(int, arguments[:-1]))
                answer = {"error": ""}
            except OSError as error:
                answer = {"error": KINDS.get(type(error), "another")}
        elif command == "read":
            answer = {**flag.read()._asdict()}
        elif command == "begin":
            answer = {"token": flag.begin(int(arguments[0]) / 1000)}
        elif command == "still":
            answer = {"still": flag.still(int(arguments[0]))}
        else:
            answer = watch(flag, *map(int, arguments))
        print(json.dumps(answer, default=str), flush=True)


main()
