#!/usr/bin/env python3
"""Runs a program under a filter that forbids what a sidecar confines itself with, or what turns
its flag off when it is killed, as a container's profile may.

usage: forbidding.py [--flag] PROGRAM [ARGUMENT...]
"""

import ctypes
import os
import platform
import struct
import sys

SECCOMP = {"x86_64": 317, "aarch64": 277}
SET_ROBUST_LIST = {"x86_64": 273, "aarch64": 99}
CONFINING = [SECCOMP[platform.machine()], 444, 445, 446]  # and landlock_*, the same everywhere

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, FILTER = 22, 38, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # classic BPF
ALLOW, FAIL_WITH_EPERM = 0x7FFF0000, 0x00050001


class Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("steps", ctypes.c_void_p)]


def forbid(numbers):
    steps = [(LOAD, 0, 0, 0)]  # the number of the system call
    for number in numbers:
        steps += [(EQUAL, 0, 1, number), (RETURN, 0, 0, FAIL_WITH_EPERM)]
    steps.append((RETURN, 0, 0, ALLOW))
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = Program(len(steps), ctypes.cast(text, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_NO_NEW_PRIVS")
    if libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_SECCOMP")


if __name__ == "__main__":
    is_of_flag = sys.argv[1] == "--flag"
    forbid([SET_ROBUST_LIST[platform.machine()]] if is_of_flag else CONFINING)
    command = sys.argv[2 if is_of_flag else 1:]
    os.execvp(command[0], command)
