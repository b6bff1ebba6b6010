# SPDX-License-Identifier: BSD-3-Clause
"""Files that users name: read up to a length, until a signal; written whole."""
import errno
import os
import select
import stat
import tempfile

MOST = 256 << 20  # bytes of a report or a load
PART = 1 << 20


def read(path):
    """The text of a file, a pipe or a FIFO, for which it may wait; OSError if it cannot be read or
    is too long, ValueError if it is no UTF-8."""
    # Without O_NONBLOCK a FIFO without a writer would hold up the program here.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        return _all(fd, path, not stat.S_ISREG(os.fstat(fd).st_mode)).decode("utf-8")
    finally:
        os.close(fd)


def _all(fd, path, waits):
    parts, size = [], 0
    while size <= MOST:
        if waits:
            ready = select.poll()
            ready.register(fd, select.POLLIN)
            ready.poll()  # a FIFO that had no writer yet has no end
        try:
            part = os.read(fd, PART)
        except BlockingIOError:
            continue
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
    raise OSError(errno.EFBIG, f"it has more than {MOST} bytes, the most that is read", path)


def replace(path, content):
    """Writes a file whole, or leaves the one before. The draft has a name that nobody can foresee,
    and the file is a new one, whatever had its name."""
    folder, name = os.path.split(path)
    handle, draft = tempfile.mkstemp(prefix=f".{name}.", dir=folder or ".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(draft, 0o666 & ~umask)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise
