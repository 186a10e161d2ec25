#!/usr/bin/env python3
"""Runs a program as on a kernel that has no IPv6: it can make no such socket.

usage: without_ipv6.py PROGRAM [ARGUMENT...]
"""

import ctypes
import errno
import os
import platform
import socket
import struct
import sys

SOCKET_CALL = {"x86_64": 41, "aarch64": 198}[platform.machine()]
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06  # words of classic BPF
CALL_OFFSET, FIRST_ARGUMENT_OFFSET = 0, 16  # in struct seccomp_data
ALLOW, ERROR = 0x7FFF0000, 0x00050000


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def main():
    instructions = b"".join(struct.pack("=HBBI", *instruction) for instruction in (
        (LOAD, 0, 0, CALL_OFFSET),
        (JUMP_IF_EQUAL, 0, 3, SOCKET_CALL),
        (LOAD, 0, 0, FIRST_ARGUMENT_OFFSET),
        (JUMP_IF_EQUAL, 0, 1, socket.AF_INET6),
        (RETURN, 0, 0, ERROR | errno.EAFNOSUPPORT),
        (RETURN, 0, 0, ALLOW)))
    libc = ctypes.CDLL(None, use_errno=True)
    filter_ = Program(len(instructions) // 8, instructions)
    if (libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or
            libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(filter_), 0, 0) != 0):
        sys.exit("no filter of system calls can be set: " + os.strerror(ctypes.get_errno()))
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
