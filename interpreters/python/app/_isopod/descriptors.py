"""Pipes, and the descriptors that children inherit.

libc has descriptors of its own, above the kernel's: a file that libc opened is not in the table that the kernel gives
to a child. A pipe is created by the kernel and opened by libc through `/dev/fd`, so that reads, writes and `select` are
libc's; the kernel's number is kept beside it (its shadow), for a child to inherit, until the descriptor is closed.
"""

import errno
import io
import os
import posix

from _isopod import system
from _isopod.kernel import OpenFlags, Whence, call, files

#: Maps libc's descriptor to the kernel's.
shadows = {}


def _adopt(number, flags):
    fd = posix.open(f"/dev/fd/{number}", flags)
    shadows[fd] = number
    return fd


def pipe():
    reader, writer = call(files.pipe)
    return _adopt(reader, os.O_RDONLY), _adopt(writer, os.O_WRONLY)


def forget(fd):
    """Closes the kernel's side of a descriptor, if it has one."""
    number = shadows.pop(fd, None)
    if number is not None:
        call(files.close, number)


class PipeEnd(io.FileIO):
    """A descriptor of libc that closes its shadow with itself, so that the other end sees that it is closed."""

    def close(self):
        if not self.closed and self.closefd:
            forget(self.fileno())
        super().close()


def open_fd(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
    """`open` for descriptors with a shadow."""
    if not isinstance(file, int) or file not in shadows:
        return io.open(file, mode, buffering, encoding, errors, newline, closefd, opener)
    raw = PipeEnd(file, mode.replace("b", "").replace("t", ""), closefd)
    if buffering == 0:
        return raw
    size = buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE
    buffered = io.BufferedReader(raw, size) if raw.readable() else io.BufferedWriter(raw, size)
    if "b" in mode:
        return buffered
    text = io.TextIOWrapper(buffered, encoding, errors, newline, line_buffering=buffering == 1)
    text.mode = mode
    return text


class Inherited:
    """The kernel's descriptor for one of libc's, to be passed to a child."""

    def __init__(self, fd, file=None):
        self.fd, self.is_own, self.is_file = fd, False, False
        if fd in (0, 1, 2):
            self.number = fd
        elif fd in shadows:
            self.number = shadows[fd]
        else:
            self._open(fd, file)

    def _open(self, fd, file):
        """Opens the same file once more, at the same position."""
        name = getattr(file, "name", None)
        path = system.opened.get(fd) or (os.path.abspath(os.fsdecode(name)) if isinstance(name, (str, bytes)) else None)
        found = posix.fstat(fd)
        try:
            same = path is not None and os.stat(path).st_ino == found.st_ino
        except OSError:
            same = False
        if not same:
            raise OSError(errno.ENOTSUP, "a child can inherit a file only while its name still leads to it")
        mode = getattr(file, "mode", "r+") if isinstance(getattr(file, "mode", None), str) else "r+"
        how = OpenFlags(0)
        if "r" in mode or "+" in mode:
            how |= OpenFlags.READ
        if set(mode) & set("wxa+"):
            how |= OpenFlags.WRITE
        if "a" in mode:
            how |= OpenFlags.APPEND
        self.number, self.is_own = call(files.open, path, how, 0, filename=path), True
        try:
            call(files.seek, self.number, os.lseek(fd, 0, os.SEEK_CUR), Whence.START)
            self.is_file = True
        except OSError as error:
            if error.errno != errno.ESPIPE:
                raise

    def release(self):
        """Closes the descriptor after the child's end. The parent's position becomes the child's."""
        if not self.is_own:
            return
        self.is_own = False
        try:
            if self.is_file:
                os.lseek(self.fd, call(files.seek, self.number, 0, Whence.CURRENT), os.SEEK_SET)
        except OSError:
            # The parent has closed its own descriptor meanwhile.
            pass
        call(files.close, self.number)


def install():
    os.pipe = pipe
    os.fdopen = fdopen


def fdopen(fd, mode="r", buffering=-1, encoding=None, *args, **kwargs):
    if not isinstance(fd, int):
        raise TypeError("invalid fd type (%s, expected integer)" % type(fd))
    if "b" not in mode:
        encoding = io.text_encoding(encoding)
    return open_fd(fd, mode, buffering, encoding, *args, **kwargs)
