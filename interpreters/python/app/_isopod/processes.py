"""Children: `subprocess`, `os.system`, `os.waitpid` and `os.exec*` on the kernel's spawn and wait.

`subprocess` stays the standard library's. Only two of its methods are replaced: the one that looks up the descriptors
for a child, and the one that forks.
"""

import errno
import os
import subprocess
import sys
import types

from _isopod import descriptors, signals
from _isopod.descriptors import Inherited
from _isopod.kernel import Command, Disposition, Status_Exited, call, path_text, process

SIGPIPE = 13


def spawn(program, argv, env, streams, restore_signals=True):
    """Starts a child with these descriptors of the kernel as its 0, 1 and 2."""
    environment = [(path_text(name), path_text(value)) for name, value in env.items()]
    argv = [path_text(argument) for argument in argv]
    command = Command(path_text(program), argv, environment, list(enumerate(streams)), b"", False)
    if not restore_signals:
        return call(process.spawn, command, filename=program)
    # Python ignores SIGPIPE to raise an exception; a child must get the default.
    before = process.on_signal(SIGPIPE, Disposition.DEFAULT)
    try:
        return call(process.spawn, command, filename=program)
    finally:
        process.on_signal(SIGPIPE, before)


def _encoded(status):
    return status.value << 8 if isinstance(status, Status_Exited) else status.value


def waitpid(pid, options):
    if options & ~os.WNOHANG:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    if pid == 0 or pid < -1:
        raise OSError(errno.ECHILD, os.strerror(errno.ECHILD))
    while True:
        try:
            found, status = call(process.wait, None if pid == -1 else pid, 0 if options & os.WNOHANG else None)
        except InterruptedError:
            signals.deliver()
        except OSError as error:
            if error.errno == errno.ETIMEDOUT:
                return 0, 0
            raise
        else:
            return found, _encoded(status)


def wait():
    return waitpid(-1, 0)


def waitstatus_to_exitcode(status):
    return -(status & 0x7F) if status & 0x7F else status >> 8


def system(command):
    pid = spawn("/bin/sh", ["sh", "-c", command], os.environ, (0, 1, 2))
    return waitpid(pid, 0)[1]


def execve(path, argv, env):
    """Runs a program in place of this one: a child, whose exit status becomes that of this process."""
    status = waitpid(spawn(path, argv, env, (0, 1, 2), restore_signals=False), 0)[1]
    if status & 0x7F:
        process.on_signal(status & 0x7F, Disposition.DEFAULT)
        process.kill(process.id(), status & 0x7F)
    process.exit(status >> 8)


def execv(path, argv):
    execve(path, argv, os.environ)


def _get_handles(self, stdin, stdout, stderr, original=subprocess.Popen._get_handles):
    handles = original(self, stdin, stdout, stderr)
    given = zip((handles[0], handles[3], handles[5]), (stdin, stdout, stderr))
    self._given = {fd: file for fd, file in given if not isinstance(file, (int, type(None)))}
    return handles


def _execute_child(
    self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo, creationflags, shell,
    p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite,
    restore_signals, gid, gids, uid, umask, start_new_session, process_group,
):  # fmt: skip
    if preexec_fn is not None:
        raise subprocess.SubprocessError("preexec_fn: this sandbox has no fork")
    if pass_fds or process_group != -1:
        raise subprocess.SubprocessError("pass_fds and process_group are not available in this sandbox")
    args = [args] if isinstance(args, (str, bytes, os.PathLike)) else list(args)
    if shell:
        args = ["/bin/sh", "-c", *args]
    if not args:
        raise IndexError("list index out of range")
    executable = executable if executable is not None else args[0]
    sys.audit("subprocess.Popen", executable, args, cwd, env)
    ends = [0 if p2cread == -1 else p2cread, 1 if c2pwrite == -1 else c2pwrite, 2 if errwrite == -1 else errwrite]
    # One for each file, even if it is given several times: such descriptors share an offset.
    inherited = {}
    try:
        for fd in ends:
            if fd not in inherited:
                inherited[fd] = Inherited(fd, self._given.get(fd))
        streams = [inherited[fd].number for fd in ends]
        with _child_surroundings(cwd, umask):
            self.pid = spawn(executable, args, os.environ if env is None else env, streams, restore_signals)
    except BaseException:
        for one in inherited.values():
            one.release()
        raise
    self._child_created = True
    self._inherited = list(inherited.values())
    # Only libc's descriptor of the writing end may stay open, or the child would never see the end of its input.
    descriptors.forget(p2cwrite)
    self._close_pipe_fds(p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite)


class _child_surroundings:
    """Sets the working directory and the umask of this process while a child starts, which inherits both."""

    def __init__(self, cwd, umask):
        self.cwd, self.umask = cwd, umask

    def __enter__(self):
        if self.cwd is not None:
            before = process.cwd()
            call(process.chdir, path_text(self.cwd), filename=self.cwd)
            self.cwd = before
        if self.umask >= 0:
            self.umask = process.umask(self.umask)

    def __exit__(self, *_):
        if self.cwd is not None:
            process.chdir(self.cwd)
        if self.umask >= 0:
            process.umask(self.umask)


def _handle_exitstatus(self, sts, original=subprocess.Popen._handle_exitstatus):
    original(self, sts)
    for one in self.__dict__.pop("_inherited", ()):
        one.release()


def install():
    os.WNOHANG, os.WUNTRACED, os.WCONTINUED = 1, 2, 8
    os.WIFEXITED = lambda status: status & 0x7F == 0
    os.WEXITSTATUS = lambda status: status >> 8 & 0xFF
    os.WIFSIGNALED = lambda status: status & 0x7F != 0
    os.WTERMSIG = lambda status: status & 0x7F
    os.WIFSTOPPED = os.WIFCONTINUED = os.WCOREDUMP = lambda status: False
    os.WSTOPSIG = lambda status: 0
    for function in (waitpid, wait, waitstatus_to_exitcode, system, execv, execve):
        setattr(os, function.__name__, function)
    subprocess._can_fork_exec = True
    for name in ("waitpid", "waitstatus_to_exitcode", "WIFSTOPPED", "WSTOPSIG"):
        setattr(subprocess._del_safe, name, staticmethod(getattr(os, name)))
    subprocess._del_safe.WNOHANG = os.WNOHANG
    # It opens the ends of its pipes by number.
    subprocess.io = types.SimpleNamespace(**{**vars(subprocess.io), "open": descriptors.open_fd})
    for function in (_get_handles, _execute_child, _handle_exitstatus):
        setattr(subprocess.Popen, function.__name__, function)
