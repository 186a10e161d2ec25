"""Folders that are taken from a sidecar that runs, and puts what it needs back at any moment."""

import errno
import os
import shutil

from harness import wait_until


def delete(folder):
    """As whoever says `rm -r` does: once more, if something has come into it meanwhile."""
    wait_until(f"{folder} is deleted", lambda: _is_deleted(folder))


def empty(folder):
    for file in folder.iterdir():
        file.unlink(missing_ok=True)


def replace(folder, copied):
    """By a copy of another one."""
    copy = shutil.copytree(copied, folder.with_suffix(".copy"))

    def is_replaced():
        return _is_deleted(folder) and _is_done(lambda: copy.rename(folder))
    wait_until(f"{folder} is another", is_replaced)


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
