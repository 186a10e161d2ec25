"""The leader flag for Python 3.8 and later on Linux: does this replica lead, right now?

    flag = leader_flag.open_flag("/dev/shm/bellwether/orders")  # waits for the sidecar
    token = flag.token()
    if token is not None:
        ...  # act, and pass the token on as fencing token

What the flag promises, and what it cannot, is said in leader_flag.h, whose reader this is, line by
line; copy it into your application.  It needs no package.

The file is mapped, so a look at it costs some microseconds and no system call.  Each field is
loaded whole (a memoryview of "I" or "Q" copies one aligned machine word), in the order that the
header prescribes.  To cut the file short, which only its owner and root can, ends this process by
SIGBUS.
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
GUARD_NONE, GUARD_MAJORITY, GUARD_STORE = range(3)

# Flags.
DRAINING = 1

# Where the fields are: in units of 4 bytes, of 8 bytes, and of one.
_OWNER, _SEQ = 0, 1
_EPOCH, _VALID_UNTIL, _BOOT_ID_HASH, _LEADER_ID = 1, 2, 3, 5
_GUARD, _ROLE, _ABI, _FLAGS = 32, 33, 34, 35

# An update takes nanoseconds; a writer that is stopped in the middle of one may take for ever.
_TRIES = 1000

# How often a reader looks whether another file is at the flag's path, while nobody vouches for its.
LOOK_S = 1.0

# How often wait() looks.  It cannot sleep in the kernel, as the C reader does.
_POLL_S = 0.005


_Path = typing.Union[str, "os.PathLike[str]"]


class NotReady(OSError):
    """The sidecar has not set up the flag yet; try again."""


class NotAFlag(OSError):
    """The file is not a leader flag."""


class UnknownVersion(OSError):
    """The flag is of a version that this reader does not know."""


class NotTrusted(OSError):
    """The file belongs to a user who has no say here."""


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
    is_draining: bool = False  # this replica leads, and shall begin nothing new


class LeaderFlag:
    """An open flag; any number of threads may read it.  Raises FileNotFoundError or NotReady while
    the sidecar has not come up.  `owner` is the user id of the sidecar: then only a file of that
    user, or of root, is believed; without it also one of this process's user, and of the owner of
    the file's folder where root alone can have given it to him (leader_flag.h)."""

    def __init__(self, path: _Path, owner: typing.Optional[int] = None) -> None:
        self._path, self._owner = os.fspath(path), owner
        self._boot_id_hash = _boot_id_hash()
        self._next_look_s = 0.0
        self._line = _Line(self._path, owner)

    def close(self) -> None:
        self._line.close()

    def token(self) -> typing.Optional[int]:
        """The fencing token while this replica leads, otherwise None."""
        snapshot = self.read()
        return snapshot.fencing_token if snapshot.role == LEADER else None

    def read(self) -> Snapshot:
        """All that the flag says."""
        snapshot = self._line.read(self._boot_id_hash)
        if snapshot.is_sidecar_alive or not self._look_again():
            return snapshot
        return self._line.read(self._boot_id_hash)

    def wait(self, seen: Snapshot, timeout_s: typing.Optional[float] = None) -> Snapshot:
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

    def begin(self, need_s: float) -> typing.Optional[int]:
        """Call this before work that takes `need_s`.  A token: this replica leads, may begin new
        work, and its leadership, as the sidecar last wrote it, is valid for at least that long; the
        token is for the resource and for still().  Otherwise None.  A leader that is about to hand
        over may not begin anything; it has `[application] drain_timeout` to finish what it has
        begun.

        The leadership is never valid for longer than 4/5 of the lease, and for less between two
        renewals: a `need_s` that is not well below is never granted.  For longer work pass a small
        one, set drain_timeout above its length, and let still() decide whether the result counts.

        After a token, under every guard but "none", no other replica leads before that time is up,
        even if the sidecar hangs, gets no processor time, or is cut off.  There are two exceptions:
        the leader gives up leadership without a drain, or after one (a step-down, a transfer, a
        planned take-over, SIGTERM), or its sidecar is known to be dead.  Then another replica may
        lead a millisecond later, while this one is still working."""
        snapshot = self.read()
        if snapshot.role != LEADER or snapshot.is_draining:
            return None
        if snapshot.valid_until_ns - now_ns() < max(need_s * 1e9, 1):
            return None
        return snapshot.fencing_token

    def still(self, token: int) -> bool:
        """Call this after the work, before its result counts.  True: this replica leads, in the
        same epoch as at begin(); under every guard but "none", no other replica has led since
        then."""
        return self.token() == token

    def _look_again(self) -> bool:
        """While nobody vouches for the flag: is another file at its path?"""
        now_s = time.monotonic()
        if now_s < self._next_look_s:
            return False
        self._next_look_s = now_s + LOOK_S
        try:
            if self._line.is_at(self._path):
                return False
            # The old one may just be read by another thread; it goes when nobody has it any more.
            self._line = _Line(self._path, self._owner)
            return True
        except OSError:
            return False


class _Line:
    """One file, checked and mapped."""

    def __init__(self, path: str, owner: typing.Optional[int]) -> None:
        # O_NONBLOCK: what is a pipe shall be refused, not waited for.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(fd)
            _check(path, status, owner)
            self._mapping = mmap.mmap(fd, LINE_BYTES, mmap.MAP_SHARED, mmap.PROT_READ)
        finally:
            os.close(fd)
        self._file = (status.st_dev, status.st_ino)
        self._bytes = memoryview(self._mapping)
        self._words, self._longs = self._bytes.cast("I"), self._bytes.cast("Q")
        abi = self._bytes[_ABI]
        if abi != ABI:
            self.close()
            if abi == 0:
                raise NotReady(errno.EAGAIN, "the leader flag is not set up yet", path)
            raise UnknownVersion(errno.EPROTO, f"a leader flag of version {abi}", path)

    def close(self) -> None:
        for view in (self._words, self._longs, self._bytes):
            view.release()
        self._mapping.close()

    def is_at(self, path: str) -> bool:
        status = os.stat(path)
        return (status.st_dev, status.st_ino) == self._file

    def read(self, boot_id_hash: int) -> Snapshot:
        """All that the line says."""
        for _ in range(_TRIES):
            snapshot = self._try_read(boot_id_hash)
            if snapshot is not None:
                return snapshot
        return Snapshot(self._words[_SEQ])

    def _try_read(self, own_boot_id_hash: int) -> typing.Optional[Snapshot]:
        """One try; None when the line is being written.  The clock and the owner are read inside
        of the seqlock and last, so that at the instant of the clock all that is told held."""
        words, longs = self._words, self._longs
        seq = words[_SEQ]
        _fence()
        epoch, valid_until_ns = longs[_EPOCH], longs[_VALID_UNTIL]
        boot_id_hash = longs[_BOOT_ID_HASH]
        leader_id = struct.pack("=QQ", longs[_LEADER_ID], longs[_LEADER_ID + 1])
        guard, role, abi = self._bytes[_GUARD], self._bytes[_ROLE], self._bytes[_ABI]
        is_draining = self._bytes[_FLAGS] & DRAINING != 0
        now = now_ns()
        _fence()
        owner = words[_OWNER]
        _fence()
        if seq % 2 != 0 or words[_SEQ] != seq:
            return None
        if (owner == 0 or owner & OWNER_DIED or boot_id_hash != own_boot_id_hash or abi != ABI):
            return Snapshot(seq)
        if role != LEADER:
            return Snapshot(seq, role, epoch, 0, 0, uuid.UUID(bytes=leader_id), guard, True)
        if now >= valid_until_ns:
            return Snapshot(seq, guard=guard, is_sidecar_alive=True)
        return Snapshot(seq, role, epoch, epoch, valid_until_ns, uuid.UUID(bytes=leader_id), guard,
                        True, is_draining)


def _check(path: str, status: os.stat_result, owner: typing.Optional[int]) -> None:
    """Raises what is wrong with a file."""
    if not stat.S_ISREG(status.st_mode):
        raise NotAFlag(errno.EINVAL, "not a leader flag", path)
    if not _is_trusted(path, status.st_uid, owner):
        raise NotTrusted(errno.EPERM, f"belongs to user {status.st_uid}, for whom nothing vouches; "
                         "name the sidecar's user as owner", path)
    if status.st_size == 0:
        raise NotReady(errno.EAGAIN, "the leader flag is not set up yet", path)
    if status.st_size != FILE_BYTES:
        raise NotAFlag(errno.EINVAL, "not a leader flag", path)


def _is_trusted(path: str, user: int, owner: typing.Optional[int]) -> bool:
    """May this user say that this replica leads?"""
    if user == 0 or owner is not None:
        return user in (0, owner)
    if user == os.geteuid():
        return True
    folder = os.path.dirname(path) or "."
    own, above = os.stat(folder), os.stat(os.path.join(folder, ".."))
    return own.st_uid == user and above.st_uid == 0 and not (own.st_mode | above.st_mode) & 0o022


def open_flag(path: _Path, patience_s: typing.Optional[float] = None,
              owner: typing.Optional[int] = None) -> LeaderFlag:
    """Opens the flag; waits for a sidecar that starts later, for ever, or for `patience_s`."""
    deadline = None if patience_s is None else time.monotonic() + patience_s
    while True:
        try:
            return LeaderFlag(path, owner)
        except (FileNotFoundError, NotReady):
            if deadline is not None and time.monotonic() >= deadline:
                raise
            time.sleep(_POLL_S)


def now_ns() -> int:
    """The clock of valid_until_ns; it goes on while the machine is suspended."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def _fence() -> None:
    """Loads before stay before loads after, also on processors that reorder them (not x86, but
    ARM): nothing earlier passes the release of the first lock, nothing later the acquisition of the
    second, and a release is not passed by a later acquisition."""
    with _LOCKS.first:
        pass
    with _LOCKS.second:
        pass


class _Locks(threading.local):
    """Two locks for each thread, so that nobody ever waits for one."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = threading.Lock(), threading.Lock()


_LOCKS = _Locks()


def _boot_id_hash() -> int:
    """64-bit FNV-1a of the 36 characters that name this boot."""
    with open("/proc/sys/kernel/random/boot_id", "rb") as file:
        text = file.read(36)
    value = 0xcbf29ce484222325
    for byte in text:
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return value
