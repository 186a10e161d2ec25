"""The leader flag for Python 3.8 and later on Linux: does this replica lead, right now?

    flag = leader_flag.open_flag("/dev/shm/bellwether/orders")
    token = flag.token()
    if token is not None:
        ...  # act, and pass the token on as fencing token

What the flag promises, and what it cannot, is said in leader_flag.h, whose reader this is, line by
line; copy it into your application.  It needs no package.

The file is mapped, so a look at it costs some microseconds and no system call.  Each field is
loaded whole (a memoryview of "I" or "Q" copies one aligned machine word), in the order that the
header prescribes.
"""

import errno
import mmap
import os
import stat
import struct
import threading
import time
import typing
import uuid

ABI = 1
FILE_BYTES = 4096
LINE_BYTES = 64
OWNER_DIED = 0x40000000

# Roles.
UNKNOWN, FOLLOWER, LEADER = range(3)

# Guards.
GUARD_NONE, GUARD_MAJORITY = range(2)

# Where the fields are: in units of 4 bytes, of 8 bytes, and of one.
_OWNER, _SEQ = 0, 1
_EPOCH, _VALID_UNTIL, _BOOT_ID_HASH, _LEADER_ID = 1, 2, 3, 5
_GUARD, _ROLE, _ABI = 32, 33, 34

# An update takes nanoseconds; a writer that is stopped in the middle of one may take for ever.
_TRIES = 1000

# How often wait() looks.  It cannot sleep in the kernel, as the C reader does.
_POLL_S = 0.005


class NotReady(OSError):
    """The sidecar has not set up the flag yet; try again."""


class NotAFlag(OSError):
    """The file is no leader flag."""


class UnknownVersion(OSError):
    """The flag is of a version that this reader does not know."""


class Snapshot(typing.NamedTuple):
    """All that the flag says, at one instant.  A flag that nobody vouches for (no living sidecar,
    a leadership that has run out) has the role UNKNOWN and names no leader."""

    seq: int  # differs when something but valid_until_ns was written
    role: int = UNKNOWN
    epoch: int = 0  # 0: no leader is known
    fencing_token: int = 0  # the epoch while this replica leads, otherwise 0
    valid_until_ns: int = 0  # while this replica leads, on CLOCK_BOOTTIME
    leader_id: uuid.UUID = uuid.UUID(int=0)  # zeros: none
    guard: int = GUARD_NONE
    is_sidecar_alive: bool = False


class LeaderFlag:
    """An open flag; any number of threads may read it."""

    def __init__(self, path):
        """Raises FileNotFoundError or NotReady while the sidecar has not come up, NotAFlag and
        UnknownVersion when waiting would not help."""
        self._boot_id_hash = _boot_id_hash()
        # O_NONBLOCK: what is a pipe shall be refused, not waited for.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or status.st_size not in (0, FILE_BYTES):
                raise NotAFlag(errno.EINVAL, "not a leader flag", path)
            if status.st_size == 0:
                raise NotReady(errno.EAGAIN, "the leader flag is not set up yet", path)
            self._mapping = mmap.mmap(fd, LINE_BYTES, mmap.MAP_SHARED, mmap.PROT_READ)
        finally:
            os.close(fd)
        self._bytes = memoryview(self._mapping)
        self._words, self._longs = self._bytes.cast("I"), self._bytes.cast("Q")
        abi = self._bytes[_ABI]
        if abi != ABI:
            self.close()
            if abi == 0:
                raise NotReady(errno.EAGAIN, "the leader flag is not set up yet", path)
            raise UnknownVersion(errno.EPROTO, f"a leader flag of version {abi}", path)

    def close(self):
        for part in (self._words, self._longs, self._bytes, self._mapping):
            part.release() if isinstance(part, memoryview) else part.close()

    def token(self):
        """The fencing token while this replica leads, otherwise None."""
        snapshot = self.read()
        return snapshot.fencing_token if snapshot.role == LEADER else None

    def read(self):
        """All that the flag says."""
        for _ in range(_TRIES):
            snapshot = self._try_read()
            if snapshot is not None:
                return snapshot
        return Snapshot(self._words[_SEQ])

    def wait(self, seen, timeout_s=None):
        """Waits until a read would differ from `seen` in more than valid_until_ns; returns what it
        is then, or still is after the timeout.  Notices a change within 5 ms."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            now = self.read()
            if ((now.seq, now.role, now.is_sidecar_alive) !=
                    (seen.seq, seen.role, seen.is_sidecar_alive)):
                return now
            if deadline is not None and time.monotonic() >= deadline:
                return now
            time.sleep(_POLL_S)

    def begin(self, need_s):
        """Before work that takes so long: the token if this replica leads, and that is certain for
        so long even if the sidecar never renews it; otherwise None."""
        snapshot = self.read()
        if snapshot.role != LEADER or snapshot.valid_until_ns - now_ns() < max(need_s * 1e9, 1):
            return None
        return snapshot.fencing_token

    def still(self, token):
        """After the work, before its result counts: does this replica lead in the same epoch?"""
        return self.token() == token

    def _try_read(self):
        """One try; None when the line is being written.  The clock and the owner are read inside
        of the seqlock and last, so that at the instant of the clock all that is told held."""
        words, longs = self._words, self._longs
        seq = words[_SEQ]
        _fence()
        epoch, valid_until_ns = longs[_EPOCH], longs[_VALID_UNTIL]
        boot_id_hash = longs[_BOOT_ID_HASH]
        leader_id = struct.pack("=QQ", longs[_LEADER_ID], longs[_LEADER_ID + 1])
        guard, role, abi = self._bytes[_GUARD], self._bytes[_ROLE], self._bytes[_ABI]
        now = now_ns()
        _fence()
        owner = words[_OWNER]
        _fence()
        if seq % 2 != 0 or words[_SEQ] != seq:
            return None
        if (owner == 0 or owner & OWNER_DIED or boot_id_hash != self._boot_id_hash or abi != ABI):
            return Snapshot(seq)
        if role != LEADER:
            return Snapshot(seq, role, epoch, 0, 0, uuid.UUID(bytes=leader_id), guard, True)
        if now >= valid_until_ns:
            return Snapshot(seq, guard=guard, is_sidecar_alive=True)
        return Snapshot(seq, role, epoch, epoch, valid_until_ns, uuid.UUID(bytes=leader_id), guard,
                        True)


def open_flag(path, patience_s=None):
    """Opens the flag; waits for a sidecar that starts later, for ever or for so long."""
    deadline = None if patience_s is None else time.monotonic() + patience_s
    while True:
        try:
            return LeaderFlag(path)
        except (FileNotFoundError, NotReady):
            if deadline is not None and time.monotonic() >= deadline:
                raise
            time.sleep(_POLL_S)


def now_ns():
    """The clock of valid_until_ns; it goes on while the machine is suspended."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def _fence():
    """Loads before stay before loads after, also on processors that reorder them (not x86, but
    ARM): nothing earlier passes the release of the first lock, nothing later the acquisition of the
    second, and a release is not passed by a later acquisition."""
    with _LOCKS.first:
        pass
    with _LOCKS.second:
        pass


class _Locks(threading.local):
    """Two locks for each thread, so that nobody ever waits for one."""

    def __init__(self):
        super().__init__()
        self.first, self.second = threading.Lock(), threading.Lock()


_LOCKS = _Locks()


def _boot_id_hash():
    """64-bit FNV-1a of the 36 characters that name this boot."""
    with open("/proc/sys/kernel/random/boot_id", "rb") as file:
        text = file.read(36)
    value = 0xcbf29ce484222325
    for byte in text:
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return value
