"""Folders that are taken from a running sidecar, which may put back what it needs at any moment."""

import errno
import itertools
import os
import shutil

from harness import wait_until


def delete(folder):
    """Like an operator who says `rm -r` once more when something has come into it meanwhile.
    Returns how often that was."""
    times = itertools.count(1)
    return wait_until(f"{folder} is deleted", lambda: next(times) * _is_deleted(folder))


def empty(folder):
    for file in folder.iterdir():
        file.unlink(missing_ok=True)


def replace(folder, copied):
    """Puts a copy of another one in its place."""
    copy = shutil.copytree(copied, folder.with_suffix(".copy"))

    def is_replaced():
        return _is_deleted(folder) and _is_done(lambda: copy.rename(folder))
    wait_until(f"{folder} is replaced", is_replaced)


def _is_deleted(folder):
    return _is_done(lambda: shutil.rmtree(folder)) or not os.path.lexists(folder)


def _is_done(change):
    try:
        change()
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
            raise
        return False
    return True
