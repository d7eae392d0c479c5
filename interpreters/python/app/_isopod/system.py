"""Functions of `os` that WASI's libc does not have: modes, owners, identities, the umask, the working directory.

They replace the functions of `os` alone: `posix` keeps those of libc, which the import system uses for speed.
"""

import errno
import os
import posix
import stat as types
import time

from _isopod.kernel import Kind, call, files, path_text, process

USER = GROUP = 1000

TYPE_BITS = {
    Kind.FILE: types.S_IFREG,
    Kind.DIRECTORY: types.S_IFDIR,
    Kind.SYMLINK: types.S_IFLNK,
    Kind.DEVICE: types.S_IFCHR,
    Kind.PIPE: types.S_IFIFO,
}

#: libc's descriptors of files that were opened through `os.open`: their absolute paths, for children to inherit.
opened = {}


def _result(found):
    whole = [found.accessed, found.modified, found.changed]
    seconds = [time // 10**9 for time in whole]
    numbers = (TYPE_BITS[found.kind] | found.mode, found.inode, found.device, found.links, found.uid, found.gid)
    sizes = (4096, (found.size + 511) // 512, 0)
    return os.stat_result((*numbers, found.size, *seconds, *(time / 1e9 for time in whole), *whole, *sizes))


def stat(path, *, dir_fd=None, follow_symlinks=True):
    if isinstance(path, int):
        return fstat(path)
    if dir_fd is not None:
        return posix.stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
    return _result(call(files.stat, path_text(path), follow_symlinks, filename=path))


def lstat(path, *, dir_fd=None):
    return stat(path, dir_fd=dir_fd, follow_symlinks=False)


def fstat(fd):
    if fd in (0, 1, 2):
        return _result(call(files.stat_fd, fd))
    found = posix.fstat(fd)
    path = opened.get(fd)
    if path is not None:
        named = stat(path)
        if named.st_ino == found.st_ino:
            return named
    # libc knows no modes, and does not tell the name of an opened file.
    mode = 0o755 if types.S_ISDIR(found.st_mode) else 0o644
    numbers = list(found)
    numbers[0], numbers[4], numbers[5] = types.S_IFMT(found.st_mode) | mode, USER, GROUP
    exact = (found.st_atime, found.st_mtime, found.st_ctime, found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns)
    return os.stat_result((*numbers, *exact, 4096, (found.st_size + 511) // 512, 0))


def access(path, mode, *, dir_fd=None, effective_ids=False, follow_symlinks=True):
    if not posix.access(path, mode & ~os.X_OK, dir_fd=dir_fd, follow_symlinks=follow_symlinks):
        return False
    return not mode & os.X_OK or bool(stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks).st_mode & 0o111)


def chmod(path, mode, *, dir_fd=None, follow_symlinks=True):
    if dir_fd is not None:
        raise NotImplementedError("chmod: dir_fd unavailable on this platform")
    if isinstance(path, int):
        path = opened.get(path) or _unnamed(path)
    call(files.chmod, path_text(path), mode & 0o7777, follow_symlinks, filename=path)


def fchmod(fd, mode):
    chmod(fd, mode)


def chown(path, uid, gid, *, dir_fd=None, follow_symlinks=True):
    if dir_fd is not None:
        raise NotImplementedError("chown: dir_fd unavailable on this platform")
    given = [None if number == -1 else number for number in (uid, gid)]
    call(files.chown, path_text(path), *given, follow_symlinks, filename=path)


def lchown(path, uid, gid):
    chown(path, uid, gid, follow_symlinks=False)


def _unnamed(fd):
    raise OSError(errno.ENOTSUP, "the name of this descriptor is not known")


def umask(mask):
    return process.umask(mask & 0o777)


def _created_mode(mode):
    mask = process.umask(0)
    process.umask(mask)
    return mode & ~mask


def open(path, flags, mode=0o777, *, dir_fd=None):
    if dir_fd is not None:
        return posix.open(path, flags, mode, dir_fd=dir_fd)
    # WASI creates files with the mode 0666.
    made = flags & os.O_CREAT and mode & 0o777 != 0o666 and not os.path.lexists(path)
    fd = posix.open(path, flags, mode)
    absolute = os.path.join(posix.getcwd(), path_text(path))
    if made:
        chmod(absolute, _created_mode(mode))
    opened[fd] = absolute
    return fd


def close(fd):
    opened.pop(fd, None)
    from _isopod import descriptors

    descriptors.forget(fd)
    posix.close(fd)


def closerange(low, high):
    for fd in range(low, high):
        try:
            close(fd)
        except OSError:
            pass


def mkdir(path, mode=0o777, *, dir_fd=None):
    if dir_fd is not None:
        return posix.mkdir(path, mode, dir_fd=dir_fd)
    posix.mkdir(path, mode)
    if mode & 0o7777 != 0o777:
        chmod(path, _created_mode(mode & 0o7777))


def chdir(path):
    if isinstance(path, int):
        path = opened.get(path) or _unnamed(path)
    # libc resolves relative paths by itself; children inherit the kernel's working directory.
    where = call(process.chdir, path_text(path), filename=path)
    posix.chdir(where)


def uname():
    return posix.uname_result(("Linux", "isopod", "6.1.0", "#1 Isopod", "wasm32"))


def times():
    own, children = (nanoseconds / 1e9 for nanoseconds in process.times())
    return os.times_result((own, 0.0, children, 0.0, time.monotonic()))


def get_terminal_size(fd=1):
    raise OSError(errno.ENOTTY, os.strerror(errno.ENOTTY))


def _exit(status):
    process.exit(status & 0xFF)


def abort():
    process.kill(process.id(), 6)


NAMES = (
    "stat lstat fstat access chmod fchmod chown lchown umask open close closerange mkdir chdir uname times"
    " get_terminal_size _exit abort"
).split()


def install():
    for name in NAMES:
        setattr(os, name, globals()[name])
    os.getpid = process.id
    os.getppid = process.parent
    os.getuid = os.geteuid = lambda: USER
    os.getgid = os.getegid = lambda: GROUP
    os.getgroups = lambda: [GROUP]
    os.getlogin = lambda: "user"
    os.sched_getaffinity = lambda pid: {0}
    # WASI has no clock for the CPU time of a process.
    time.process_time_ns = lambda: process.times()[0]
    time.process_time = lambda: process.times()[0] / 1e9
    os.supports_fd |= {chmod, stat}
    os.supports_follow_symlinks |= {stat, access, chmod, chown}
    os.supports_dir_fd |= {stat, lstat, open, mkdir, access}
