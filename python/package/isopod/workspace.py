"""Commands and files of a sandbox or of a lease."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeVar

from isopod import _isopod
from isopod._isopod import Entry, Match, Output
from isopod.stream import Listener, Stream, afollow, follow

T = TypeVar("T")


class Found(list[T]):
    """A list that may be incomplete."""

    cut: _isopod.Cut | None
    """The reason: ``count``, ``budget`` (of time), ``unreadable`` or ``transport``; None if it is complete."""

    def __init__(self, items: Iterable[T] = (), cut: _isopod.Cut | None = None) -> None:
        super().__init__(items)
        self.cut = cut


class Workspace:
    """Commands and files. A path is absolute, or relative to the working directory of commands."""

    def __init__(self, backend: _isopod.Backend) -> None:
        self._backend = backend

    def execute(
        self,
        command: str | Sequence[str],
        *,
        timeout: float | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str | bytes | None = None,
        on_stdout: Listener | None = None,
        on_stderr: Listener | None = None,
    ) -> Output:
        """Execute a command line, or a program with its arguments, and return its result.

        A command that fails, is killed or times out is a result and raises nothing. Other threads run meanwhile; Ctrl-C
        ends the command and raises ``KeyboardInterrupt``. ``on_stdout`` and ``on_stderr`` are called with text as it
        arrives; an exception in them ends the command.
        """
        line, data = command_line(command), encoded(stdin)
        if on_stdout is None and on_stderr is None:
            return self._backend.execute(line, timeout, cwd, env, data).wait()
        stream = Stream(self._backend.stream(line, timeout, cwd, env, data).wait())
        return follow(stream, on_stdout, on_stderr)

    async def aexecute(
        self,
        command: str | Sequence[str],
        *,
        timeout: float | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str | bytes | None = None,
        on_stdout: Listener | None = None,
        on_stderr: Listener | None = None,
    ) -> Output:
        """The async twin of ``execute``. Cancelling it ends the command; listeners may be coroutine functions."""
        line, data = command_line(command), encoded(stdin)
        if on_stdout is None and on_stderr is None:
            return await self._backend.execute(line, timeout, cwd, env, data)
        stream = Stream(await self._backend.stream(line, timeout, cwd, env, data))
        return await afollow(stream, on_stdout, on_stderr)

    def stream(
        self,
        command: str | Sequence[str],
        *,
        timeout: float | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str | bytes | None = None,
    ) -> Stream:
        """Start a command and return a stream of its output."""
        return Stream(self._backend.stream(command_line(command), timeout, cwd, env, encoded(stdin)).wait())

    async def astream(
        self,
        command: str | Sequence[str],
        *,
        timeout: float | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str | bytes | None = None,
    ) -> Stream:
        """The async twin of ``stream``: ``async for`` iterates over the output."""
        return Stream(await self._backend.stream(command_line(command), timeout, cwd, env, encoded(stdin)))

    def ls(self, path: str = ".") -> Found[Entry]:
        """List a directory: one level, hidden names too, links not followed."""
        return Found(*self._backend.ls(path).wait())

    async def als(self, path: str = ".") -> Found[Entry]:
        """The async twin of ``ls``."""
        return Found(*await self._backend.ls(path))

    def read(self, path: str, *, offset: int = 0, limit: int | None = None) -> str:
        """Read lines of a text file, starting at line ``offset`` (from 0); the last one is without its line end."""
        return self._backend.read(path, offset, limit).wait()

    async def aread(self, path: str, *, offset: int = 0, limit: int | None = None) -> str:
        """The async twin of ``read``."""
        return await self._backend.read(path, offset, limit)

    def write(
        self, path: str, content: str | bytes, *, mode: Literal["replace", "create", "append"] = "replace"
    ) -> int:
        """Write a file in one step, and create missing directories. Return the number of bytes."""
        return self._backend.write(path, encoded(content), mode).wait()

    async def awrite(
        self, path: str, content: str | bytes, *, mode: Literal["replace", "create", "append"] = "replace"
    ) -> int:
        """The async twin of ``write``."""
        return await self._backend.write(path, encoded(content), mode)

    def edit(self, path: str, old: str, new: str, *, replace_all: bool = False) -> int:
        """Replace the only occurrence of a text, or all of them. Return their number."""
        return self._backend.edit(path, old, new, replace_all).wait()

    async def aedit(self, path: str, old: str, new: str, *, replace_all: bool = False) -> int:
        """The async twin of ``edit``."""
        return await self._backend.edit(path, old, new, replace_all)

    def delete(self, path: str) -> None:
        """Remove a file, a link, or a directory with its contents."""
        self._backend.delete(path).wait()

    async def adelete(self, path: str) -> None:
        """The async twin of ``delete``."""
        await self._backend.delete(path)

    def glob(
        self,
        pattern: str,
        path: str = ".",
        *,
        directories: bool = False,
        hidden: bool = False,
        max_results: int | None = None,
    ) -> Found[Entry]:
        """Find files by name: a pattern without ``/`` at any depth, one with ``/`` below ``path``."""
        return Found(*self._backend.glob(pattern, path, directories, hidden, max_results).wait())

    async def aglob(
        self,
        pattern: str,
        path: str = ".",
        *,
        directories: bool = False,
        hidden: bool = False,
        max_results: int | None = None,
    ) -> Found[Entry]:
        """The async twin of ``glob``."""
        return Found(*await self._backend.glob(pattern, path, directories, hidden, max_results))

    def grep(
        self,
        pattern: str,
        path: str = ".",
        *,
        regex: bool = False,
        ignore_case: bool = False,
        include: str | None = None,
        before: int = 0,
        after: int = 0,
        max_results: int | None = None,
    ) -> Found[Match]:
        """Find lines that contain a text or match a regular expression; ``include`` is a glob for the files."""
        call = self._backend.grep(pattern, path, regex, ignore_case, include, before, after, max_results)
        return Found(*call.wait())

    async def agrep(
        self,
        pattern: str,
        path: str = ".",
        *,
        regex: bool = False,
        ignore_case: bool = False,
        include: str | None = None,
        before: int = 0,
        after: int = 0,
        max_results: int | None = None,
    ) -> Found[Match]:
        """The async twin of ``grep``."""
        call = self._backend.grep(pattern, path, regex, ignore_case, include, before, after, max_results)
        return Found(*await call)

    def upload(self, files: Mapping[str, bytes]) -> None:
        """Write many files. The first error is raised, after all others are written."""
        self._backend.upload(list(files.items())).wait()

    async def aupload(self, files: Mapping[str, bytes]) -> None:
        """The async twin of ``upload``."""
        await self._backend.upload(list(files.items()))

    def download(self, *paths: str) -> list[bytes]:
        """Read whole files as bytes, in the order of their paths."""
        return self._backend.download(paths).wait()

    async def adownload(self, *paths: str) -> list[bytes]:
        """The async twin of ``download``."""
        return await self._backend.download(paths)


def command_line(command: str | Sequence[str]) -> str | list[str]:
    """Return a text for the shell unchanged, and a program with its arguments as a list."""
    return command if isinstance(command, str) else list(command)


def encoded(text: str | bytes | None) -> bytes:
    """Return text as UTF-8."""
    return text.encode() if isinstance(text, str) else text or b""
