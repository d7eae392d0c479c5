"""The state of a process that is not part of its initial memory."""

import io
import os
import posix
import random
import sys

from _isopod.kernel import Disposition, process

SIGPIPE = 13


def renew():
    # A write to a pipe without a reader raises an exception and does not end the process.
    process.on_signal(SIGPIPE, Disposition.IGNORE)
    posix.chdir(process.cwd())
    random.seed()


def open_streams(unbuffered, ignore_environment):
    """Creates the standard streams, with the buffering of a Python whose output is not a terminal."""
    encoding, errors = "utf-8", "surrogateescape"
    wanted = "" if ignore_environment else os.environ.get("PYTHONIOENCODING", "")
    if wanted:
        named, _, handler = wanted.partition(":")
        encoding, errors = named or encoding, handler or "strict"
    sys.stdin = sys.__stdin__ = _text(0, "r", encoding, errors)
    sys.stdout = sys.__stdout__ = _text(1, "w", encoding, errors, write_through=unbuffered)
    sys.stderr = sys.__stderr__ = _text(2, "w", encoding, "backslashreplace", True, unbuffered)


def _text(fd, mode, encoding, errors, line_buffering=False, write_through=False):
    raw = io.FileIO(fd, mode, closefd=False)
    raw.name = ("<stdin>", "<stdout>", "<stderr>")[fd]
    if write_through and mode == "w":
        binary = raw
    else:
        binary = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    text = io.TextIOWrapper(binary, encoding, errors, "\n", line_buffering or write_through, write_through)
    text.mode = mode
    return text
