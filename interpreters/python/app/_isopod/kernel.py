"""The kernel's calls, with Python's exceptions."""

import errno
import os

from componentize_py_types import Err
from wit_world.imports import files, process
from wit_world.imports.files import Kind, OpenFlags, Whence
from wit_world.imports.process import Command, Disposition, Status_Exited
from wit_world.imports.types import Errno

#: Maps the kernel's errors to libc's numbers.
NUMBERS = {
    Errno.ACCESS: errno.EACCES,
    Errno.AGAIN: errno.EAGAIN,
    Errno.BAD_DESCRIPTOR: errno.EBADF,
    Errno.BUSY: errno.EBUSY,
    Errno.CHILD: errno.ECHILD,
    Errno.CROSS_DEVICE: errno.EXDEV,
    Errno.QUOTA: errno.EDQUOT,
    Errno.EXIST: errno.EEXIST,
    Errno.FILE_TOO_LARGE: errno.EFBIG,
    Errno.ILLEGAL_SEQUENCE: errno.EILSEQ,
    Errno.INTERRUPTED: errno.EINTR,
    Errno.INVALID: errno.EINVAL,
    Errno.IO: errno.EIO,
    Errno.IS_DIRECTORY: errno.EISDIR,
    Errno.LOOP: errno.ELOOP,
    Errno.TOO_MANY_FILES: errno.EMFILE,
    Errno.TOO_MANY_LINKS: errno.EMLINK,
    Errno.NAME_TOO_LONG: errno.ENAMETOOLONG,
    Errno.NO_DEVICE: errno.ENXIO,
    Errno.NO_ENTRY: errno.ENOENT,
    Errno.NO_EXEC: errno.ENOEXEC,
    Errno.NO_MEMORY: errno.ENOMEM,
    Errno.NO_SPACE: errno.ENOSPC,
    Errno.NOT_DIRECTORY: errno.ENOTDIR,
    Errno.NOT_EMPTY: errno.ENOTEMPTY,
    Errno.NOT_PERMITTED: errno.EPERM,
    Errno.NOT_SUPPORTED: errno.ENOTSUP,
    Errno.NO_PROCESS: errno.ESRCH,
    Errno.PIPE: errno.EPIPE,
    Errno.READ_ONLY: errno.EROFS,
    Errno.SEEK: errno.ESPIPE,
    Errno.TOO_BIG: errno.E2BIG,
    Errno.TIMED_OUT: errno.ETIMEDOUT,
}


def call(function, *arguments, filename=None):
    """Makes a call. An error raises the matching OSError, with `filename`."""
    try:
        return function(*arguments)
    except Err as error:
        number = NUMBERS[error.value]
    raise OSError(number, os.strerror(number), filename)


def path_text(path):
    """Returns a path as the kernel takes it: text without the null character."""
    text = os.fsdecode(path)
    if "\0" in text:
        raise ValueError("embedded null byte")
    try:
        text.encode()
    except UnicodeEncodeError:
        # Names in the sandbox are Unicode: any other cannot exist.
        raise OSError(errno.EILSEQ, os.strerror(errno.EILSEQ), path) from None
    return text
