"""Clear error messages for features that this sandbox does not have: network, threads, C extensions."""

import errno
import sys

#: Modules that do not exist here, and the reasons.
MODULES = {
    "_bz2": "this sandbox's Python has no bzip2",
    "_ctypes": "this sandbox has no native code to call",
    "_curses": "this sandbox has no terminal",
    "_dbm": "this sandbox's Python has no dbm",
    "_gdbm": "this sandbox's Python has no dbm",
    "_lzma": "this sandbox's Python has no lzma",
    "_multiprocessing": "this sandbox has no fork; use subprocess",
    "_posixshmem": "this sandbox has no shared memory",
    "_posixsubprocess": "this sandbox has no fork; use subprocess",
    "_ssl": "this sandbox has no network and no ssl",
    "_tkinter": "this sandbox has no display",
    "_uuid": "this sandbox's Python has no libuuid",
    "_zstd": "this sandbox's Python has no zstd",
    "ensurepip": "pip is a program of this sandbox",
    "fcntl": "this sandbox has no fcntl",
    "idlelib": "this sandbox has no display",
    "mmap": "this sandbox has no mmap",
    "multiprocessing": "this sandbox has no fork and no threads; use subprocess",
    "readline": "this sandbox has no terminal",
    "resource": "this sandbox has no resource limits of its own",
    "syslog": "this sandbox has no system log",
    "termios": "this sandbox has no terminal",
    "tkinter": "this sandbox has no display",
    "turtle": "this sandbox has no display",
    "venv": "this sandbox has one environment; use pip install with a wheel file",
}

NO_NETWORK = "Network is unreachable: this sandbox has no network"
NO_THREADS = "can't start new thread: this sandbox has no threads"


class Finder:
    """The last finder: it explains why a known module does not exist."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}: {MODULES[name]}", name=name)
        return None


def _no_network(*_, **__):
    raise OSError(errno.ENETUNREACH, NO_NETWORK)


def _no_threads(*_, **__):
    raise RuntimeError(NO_THREADS)


def install_finder():
    sys.meta_path.append(Finder)


def install():
    import _socket
    import _thread
    import socket
    import threading

    socket.socket.__init__ = _no_network
    # A socket that was never created has nothing to close.
    socket.socket.__del__ = lambda self: None
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo", "socketpair"):
        for module in (socket, _socket):
            if hasattr(module, name):
                setattr(module, name, _no_network)
    socket.gethostname = _socket.gethostname = lambda: "isopod"
    for module, names in (
        (_thread, ("start_new_thread", "start_new", "start_joinable_thread")),
        (threading, ("_start_joinable_thread", "_start_new_thread")),
    ):
        for name in names:
            if hasattr(module, name):
                setattr(module, name, _no_threads)
