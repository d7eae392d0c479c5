"""What can go wrong.

What a file system says is an :class:`OSError` of Python's own (``FileNotFoundError``, ``PermissionError``, …, with
``errno`` and ``filename``), so ``except OSError`` works as with real files. Everything else is an :class:`Error`.
A command that fails or runs out of time is an answer and raises nothing.
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
    """Anything that is not about a file, and the base of all below."""


class RequestError(Error, ValueError):
    """An argument that makes no sense: an empty command, a pattern that cannot be read, an unknown limit."""


class LimitError(Error):
    """A limit stands in the way before anything begins. One that a command runs into is in ``Output.limits``."""


class RefusedError(Error, PermissionError):
    """A layer said no, or a lease has ended."""


class EditError(Error, ValueError):
    """The text to replace is empty, not in the file, or there more than once."""


class ConflictError(Error):
    """Someone else changed the file meanwhile. Nothing was changed; trying again may work."""


class NotTextError(Error, UnicodeError):
    """Text was asked for, and the file is not UTF-8."""


class SnapshotError(Error, ValueError):
    """A file that is no snapshot, a damaged one, or not the one of this digest."""


class SessionEndedError(Error):
    """The session's shell has ended: by ``exit``, by a signal, or because it was closed."""


class ClosedError(Error):
    """The sandbox or the stream is closed. What ran when it was closed has ended."""


class UnsupportedError(Error, NotImplementedError):
    """Something that this kind of sandbox cannot do."""


class LeaseError(Error):
    """A sandbox of a provider that someone else has, or that is not leased here."""


class SandboxNotFoundError(Error, LookupError):
    """A provider has no sandbox of this id."""
