"""Small disks that a test can fill, for as long as it wants; unittest.SkipTest where it may not
mount."""

import errno
import os
import subprocess
import unittest


def hidden(folder):
    """What makes a command run without what is in the folder."""
    if subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode:
        raise unittest.SkipTest("cannot make a mount namespace")
    return ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs none {folder} && exec "$@"', "sh"]


class TmpFs:
    """A context manager: a tmpfs at a folder."""

    def __init__(self, folder, options):
        self.folder, self.options = folder, options

    def __enter__(self):
        result = subprocess.run(["mount", "-t", "tmpfs", "-o", self.options, "none", self.folder],
                                check=False, capture_output=True, text=True)
        if result.returncode != 0:
            raise unittest.SkipTest(f"cannot mount: {result.stderr.strip()}")
        return self

    def __exit__(self, kind, error, trace):
        # The process that uses it may still be there.
        subprocess.run(["umount", "--lazy", self.folder], check=True)

    def fill(self):
        """No byte more fits."""
        with open(self.folder / "ballast", "ab", buffering=0) as file:
            while True:
                try:
                    file.write(bytes(4096))
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    return

    def make_room(self):
        os.unlink(self.folder / "ballast")
