"""A WebAssembly sandbox for the shell commands of AI agents.

>>> import isopod
>>> with isopod.Sandbox() as sandbox:
...     sandbox.execute("echo hello | tr a-z A-Z").stdout
'HELLO\\n'

Each method that works with a sandbox has an async twin with an ``a`` before its name, which does not block the event
loop; cancelling it ends the work. ``isopod.deepagents`` and ``isopod.deerflow`` are backends for those frameworks.
"""

from isopod._isopod import Change, Chunk, Entry, Layer, LimitHit, Limits, Match, Output, Request, Usage
from isopod.errors import (
    ClosedError,
    ConflictError,
    EditError,
    Error,
    LeaseError,
    LimitError,
    NotTextError,
    RefusedError,
    RequestError,
    SandboxNotFoundError,
    SessionEndedError,
    SnapshotError,
    UnsupportedError,
)
from isopod.provider import Lease, Provider, SandboxInfo
from isopod.sandbox import Diff, Found, Sandbox, Session, Snapshot, Stream, Workspace

__all__ = [
    "Change",
    "Chunk",
    "ClosedError",
    "ConflictError",
    "Diff",
    "EditError",
    "Entry",
    "Error",
    "Found",
    "Layer",
    "Lease",
    "LeaseError",
    "LimitError",
    "LimitHit",
    "Limits",
    "Match",
    "NotTextError",
    "Output",
    "Provider",
    "RefusedError",
    "Request",
    "RequestError",
    "Sandbox",
    "SandboxInfo",
    "SandboxNotFoundError",
    "Session",
    "SessionEndedError",
    "Snapshot",
    "SnapshotError",
    "Stream",
    "UnsupportedError",
    "Usage",
    "Workspace",
]
