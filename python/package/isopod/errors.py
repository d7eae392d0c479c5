"""The exceptions.

An error of a file system is an :class:`OSError` of Python's own (``FileNotFoundError``, ``PermissionError``, …, with
``errno`` and ``filename``), so ``except OSError`` works as with real files. Every other error is an :class:`Error`.
A command that fails or times out is a result and raises nothing.
"""

__all__ = [
    "ClosedError",
    "ConflictError",
    "EditError",
    "Error",
    "LeaseError",
    "LimitError",
    "NotTextError",
    "RefusedError",
    "RequestError",
    "SandboxNotFoundError",
    "SessionEndedError",
    "SnapshotError",
    "UnsupportedError",
]


class Error(Exception):
    """The base class of all exceptions below, and of errors without a class of their own."""


class RequestError(Error, ValueError):
    """An invalid argument: an empty command, a malformed pattern, an unknown limit."""


class LimitError(Error):
    """A limit that prevents the start of an operation. Limits that a command hits are in ``Output.limits``."""


class RefusedError(Error, PermissionError):
    """A layer refused the operation, or the lease has ended."""


class EditError(Error, ValueError):
    """The text to replace is empty, not in the file, or occurs more than once."""


class ConflictError(Error):
    """The file was changed concurrently. The operation changed nothing and can be tried again."""


class NotTextError(Error, UnicodeError):
    """A file that was read as text is not UTF-8."""


class SnapshotError(Error, ValueError):
    """The file is no snapshot, is damaged, or has another digest."""


class SessionEndedError(Error):
    """The session's shell has ended: by ``exit``, by a signal, or because it was closed."""


class ClosedError(Error):
    """The sandbox or the stream is closed. Operations that ran at that time have ended."""


class UnsupportedError(Error, NotImplementedError):
    """This kind of sandbox does not have the operation."""


class LeaseError(Error):
    """The sandbox is leased by another process, or is not leased by this provider."""


class SandboxNotFoundError(Error, LookupError):
    """The provider has no sandbox of this id."""
