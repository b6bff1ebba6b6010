# SPDX-License-Identifier: BSD-3-Clause
"""The folder of sockets and logs, which goes with the process; those of processes that were killed
go when the next one begins.

The lock of a folder tells whether its process lives. A process id in the name would not, since
processes in different containers may share the directory.
"""
import contextlib
import fcntl
import os
import shutil
import tempfile

from .program import Failed

PREFIX = "haul-compare-"
NEW = ".new"  # not locked yet
KEPT = f"{PREFIX}report-"  # for users


def _lock(folder):
    """The descriptor that holds the folder's lock; raises OSError if another process has it. The
    kernel releases it with the process."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise
    return fd


def _remove_stale():
    with os.scandir(tempfile.gettempdir()) as entries:
        found = [e for e in entries if e.name.startswith(PREFIX) and not e.name.startswith(KEPT) and
                 not e.name.endswith(NEW) and e.is_dir(follow_symlinks=False) and
                 e.stat(follow_symlinks=False).st_uid == os.geteuid()]
    for entry in found:
        try:
            fd = _lock(entry.path)
        except OSError:
            continue  # its process lives, or another one removes it at this moment
        shutil.rmtree(entry.path, ignore_errors=True)
        os.close(fd)


@contextlib.contextmanager
def folder():
    """A folder of this process's own, for a with statement."""
    with contextlib.suppress(OSError):
        _remove_stale()
    try:
        new = tempfile.mkdtemp(prefix=PREFIX, suffix=NEW)
        path = new.removesuffix(NEW)
        fd = _lock(new)
        os.rename(new, path)
    except OSError as e:
        raise Failed(f"no folder for temporary files: {e.strerror}; set TMPDIR") from None
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(fd)
