"""A sandbox inside this process, its sessions and its snapshots."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import NamedTuple

from isopod import _isopod
from isopod._isopod import Change, Layer, Limits, Output
from isopod.stream import Listener, Stream, afollow, follow
from isopod.workspace import Found, Workspace, command_line, encoded

__all__ = ["Diff", "Found", "Sandbox", "Session", "Snapshot", "Stream", "Workspace"]

Path = str | os.PathLike[str]


class Diff(NamedTuple):
    """The changes of an overlay."""

    changes: list[Change]
    """The changed paths, in order."""
    patch: str
    """The changes of files in the form that ``git apply`` takes."""


class Sandbox(Workspace):
    """A sandbox: files, programs, limits, and nothing of the host but the mounted directories.

    Its files last as long as the sandbox. Commands may run side by side, from any thread. Each has a new shell; a
    :meth:`session` keeps its state.
    """

    def __init__(
        self,
        *,
        mounts: Mapping[str, Path] | None = None,
        read_only: Mapping[str, Path] | None = None,
        overlays: Mapping[str, Path] | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        limits: Limits | None = None,
        layers: Sequence[Layer] = (),
        snapshot: Snapshot | None = None,
        allow: Sequence[str] = (),
        allow_programs: Sequence[str] | None = None,
        deny_programs: Sequence[str] | None = None,
        id: str | None = None,
    ) -> None:
        """Make a sandbox.

        Args:
            mounts: Directories of the host to read and write: place in the sandbox → path of the host.
            read_only: Directories only to read.
            overlays: Directories copy-on-write: changes stay in memory until :meth:`commit`.
            env: Variables of every command.
            cwd: Working directory of commands, instead of ``/workspace``.
            limits: Limits of memory, time, output, files and processes.
            layers: Layers around the sandbox, the innermost first.
            snapshot: Files to start with; mounts are not part of them.
            allow: Paths that may be changed although they are protected (``.vscode``, ``all``).
            allow_programs: The only programs that may be started, beside a shell.
            deny_programs: Programs that may not be started.
            id: Id of the sandbox; random by default.
        """
        self._open(
            _isopod.Sandbox(
                id=id or new_id(),
                mounts=dict(mounts or {}),
                read_only=dict(read_only or {}),
                overlays=dict(overlays or {}),
                env=dict(env or {}),
                cwd=cwd,
                limits=limits,
                layers=list(layers),
                snapshot=snapshot._native if snapshot else None,
                allow=list(allow),
                allow_programs=allow_programs,
                deny_programs=deny_programs,
            )
        )

    def _open(self, native: _isopod.Sandbox) -> None:
        super().__init__(native.backend)
        self._native = native

    @property
    def id(self) -> str:
        """The id of the sandbox."""
        return self._native.id

    @property
    def limits(self) -> Limits:
        """The limits of the sandbox."""
        return self._native.limits

    def session(self) -> Session:
        """Start a shell that keeps its directory, variables, functions and background jobs between calls."""
        return Session(self._native.session())

    def snapshot(self) -> Snapshot:
        """Take a snapshot of the files. It takes microseconds, whatever the number of files."""
        return Snapshot(self._native.snapshot())

    def fork(self) -> Sandbox:
        """Make a sandbox that starts with the current files and the same layers. Mounts are shared."""
        return self.snapshot().fork()

    @property
    def overlays(self) -> list[str]:
        """The paths of the overlays."""
        return self._native.overlays()

    def diff(self, path: str | None = None) -> Diff:
        """Return the changes of the overlay at ``path``, or of the only one."""
        return Diff(*self._native.diff(path).wait())

    async def adiff(self, path: str | None = None) -> Diff:
        """The async twin of ``diff``."""
        return Diff(*await self._native.diff(path))

    def commit(self, path: str | None = None) -> None:
        """Write the changes of an overlay to the directory of the host."""
        self._native.commit(path).wait()

    async def acommit(self, path: str | None = None) -> None:
        """The async twin of ``commit``."""
        await self._native.commit(path)

    def discard(self, path: str | None = None) -> None:
        """Discard the changes of an overlay."""
        self._native.discard(path).wait()

    async def adiscard(self, path: str | None = None) -> None:
        """The async twin of ``discard``."""
        await self._native.discard(path)

    def close(self) -> None:
        """End all running commands and free the files. Closing again does nothing."""
        self._native.close()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Sandbox:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<isopod.Sandbox {self.id}>"


class Session:
    """A live shell. Calls run one after another; a timeout or a cancelled call does not end the session."""

    def __init__(self, native: _isopod.Session) -> None:
        self._native = native

    def execute(
        self,
        command: str | Sequence[str],
        *,
        timeout: float | None = None,
        stdin: str | bytes | None = None,
        on_stdout: Listener | None = None,
        on_stderr: Listener | None = None,
    ) -> Output:
        """Execute a command in the shell, after all earlier calls; see :meth:`Workspace.execute`."""
        if on_stdout is None and on_stderr is None:
            return self._native.execute(command_line(command), timeout, encoded(stdin)).wait()
        return follow(self.stream(command, timeout=timeout, stdin=stdin), on_stdout, on_stderr)

    async def aexecute(
        self,
        command: str | Sequence[str],
        *,
        timeout: float | None = None,
        stdin: str | bytes | None = None,
        on_stdout: Listener | None = None,
        on_stderr: Listener | None = None,
    ) -> Output:
        """The async twin of ``execute``. Cancelling it interrupts the command."""
        if on_stdout is None and on_stderr is None:
            return await self._native.execute(command_line(command), timeout, encoded(stdin))
        stream = await self.astream(command, timeout=timeout, stdin=stdin)
        return await afollow(stream, on_stdout, on_stderr)

    def stream(
        self, command: str | Sequence[str], *, timeout: float | None = None, stdin: str | bytes | None = None
    ) -> Stream:
        """Start a command and return a stream of its output."""
        return Stream(self._native.stream(command_line(command), timeout, encoded(stdin)).wait())

    async def astream(
        self, command: str | Sequence[str], *, timeout: float | None = None, stdin: str | bytes | None = None
    ) -> Stream:
        """The async twin of ``stream``."""
        return Stream(await self._native.stream(command_line(command), timeout, encoded(stdin)))

    def interrupt(self) -> None:
        """Interrupt the running command, as Ctrl-C in a terminal does. Without one, do nothing."""
        self._native.interrupt()

    @property
    def cwd(self) -> str | None:
        """The working directory of the shell; None if the shell has ended."""
        return self._native.cwd

    @property
    def is_open(self) -> bool:
        """True while the shell runs."""
        return self._native.is_open

    def close(self) -> None:
        """End the session with all its processes."""
        self._native.close().wait()

    async def aclose(self) -> None:
        """The async twin of ``close``."""
        await self._native.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Snapshot:
    """The files of a sandbox at one moment, and the changes of its overlays; mounts are no part of it."""

    def __init__(self, native: _isopod.Snapshot) -> None:
        self._native = native

    def fork(self) -> Sandbox:
        """Make a sandbox with these files, and with the limits, environment, mounts and layers of the original."""
        sandbox = Sandbox.__new__(Sandbox)
        sandbox._open(self._native.fork(new_id()))
        return sandbox

    def save(self, path: Path) -> str:
        """Write a new file, a tar archive compressed with zstd. Return its digest."""
        return self._native.save(path).wait()

    async def asave(self, path: Path) -> str:
        """The async twin of ``save``."""
        return await self._native.save(path)

    @staticmethod
    def load(path: Path, *, limits: Limits | None = None, digest: str | None = None) -> Snapshot:
        """Read a file that ``save`` wrote. With ``digest``, refuse any other snapshot."""
        return Snapshot(_isopod.Snapshot.load(path, limits, digest).wait())

    @staticmethod
    async def aload(path: Path, *, limits: Limits | None = None, digest: str | None = None) -> Snapshot:
        """The async twin of ``load``."""
        return Snapshot(await _isopod.Snapshot.load(path, limits, digest))


def new_id() -> str:
    """Return a random id."""
    return f"isopod-{secrets.token_hex(4)}"
