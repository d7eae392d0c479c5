"""A backend for LangChain's Deep Agents.

    from deepagents import create_deep_agent
    from isopod.deepagents import IsopodSandbox

    agent = create_deep_agent(model=model, backend=IsopodSandbox(mounts={"/workspace": "./project"}))

Every operation runs natively, without a program in the sandbox. Answers have Deep Agents' own wording.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, TypeVar

from deepagents.backends.protocol import (
    EditResult,
    ExecuteResponse,
    FileDownloadResponse,
    FileUploadResponse,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)
from deepagents.backends.sandbox import BaseSandbox

from isopod import _isopod
from isopod._isopod import Limits
from isopod.provider import Lease
from isopod.sandbox import Sandbox

try:
    from deepagents.backends.protocol import DeleteResult, ExecuteOffloadResult

    IS_LEGACY = False
except ImportError:
    # 0.6 has neither operation, so the types are not used.
    DeleteResult = ExecuteOffloadResult = SimpleNamespace  # type: ignore[assignment,misc]
    IS_LEGACY = True

__all__ = ["AGENT_LIMITS", "IsopodSandbox"]

T = TypeVar("T")

AGENT_LIMITS = Limits(wall=120, wall_max=3600, output="1M")
"""Limits for the framework's tools: up to an hour per command, and output that the framework shortens itself."""


class IsopodSandbox(BaseSandbox):
    """A sandbox as a backend of Deep Agents 0.7, or of 0.6 with ``legacy``.

    In 0.6 a write refuses a file that exists, and a glob returns relative paths, with directories among them. The
    default of ``legacy`` follows from the installed version.
    """

    enable_capture_offload = True

    def __init__(self, sandbox: Sandbox | Lease | None = None, *, legacy: bool | None = None, **options: Any) -> None:
        """Wrap a sandbox, or make a new one with the options of :class:`isopod.Sandbox`."""
        if sandbox is None:
            sandbox = Sandbox(**{"limits": AGENT_LIMITS, **options})
        elif options:
            raise TypeError(f"a sandbox that is there takes no options: {', '.join(options)}")
        self.sandbox = sandbox
        """The sandbox behind it."""
        self._longest = sandbox.limits.wall_max
        self._native = _isopod.DeepAgents(sandbox._backend, IS_LEGACY if legacy is None else legacy)

    @property
    def id(self) -> str:
        """The id of the sandbox."""
        return self.sandbox.id

    def close(self) -> None:
        """Close the sandbox. A lease stays: its provider ends it."""
        if isinstance(self.sandbox, Sandbox):
            self.sandbox.close()

    def _seconds(self, timeout: int | None) -> float | None:
        """Convert a timeout. The framework's 0 means none, and becomes the maximum."""
        return self._longest if timeout == 0 else timeout

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        return _result(ExecuteResponse, self._native.execute(command, self._seconds(timeout)).wait())

    async def aexecute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        return _result(ExecuteResponse, await self._native.execute(command, self._seconds(timeout)))

    def execute_with_offload(
        self,
        command: str,
        capture_path: str,
        *,
        max_inline_bytes: int,
        max_capture_bytes: int | None = None,
        timeout: int | None = None,
    ) -> ExecuteOffloadResult:
        seconds = self._seconds(timeout)
        call = self._native.execute_with_offload(command, capture_path, max_inline_bytes, max_capture_bytes, seconds)
        return _offload_result(call.wait())

    async def aexecute_with_offload(
        self,
        command: str,
        capture_path: str,
        *,
        max_inline_bytes: int,
        max_capture_bytes: int | None = None,
        timeout: int | None = None,
    ) -> ExecuteOffloadResult:
        seconds = self._seconds(timeout)
        call = self._native.execute_with_offload(command, capture_path, max_inline_bytes, max_capture_bytes, seconds)
        return _offload_result(await call)

    def ls(self, path: str) -> LsResult:
        return _result(LsResult, self._native.ls(path).wait())

    async def als(self, path: str) -> LsResult:
        return _result(LsResult, await self._native.ls(path))

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        return _result(ReadResult, self._native.read(file_path, offset, limit).wait())

    async def aread(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        return _result(ReadResult, await self._native.read(file_path, offset, limit))

    def write(self, file_path: str, content: str) -> WriteResult:
        return _result(WriteResult, self._native.write(file_path, content).wait())

    async def awrite(self, file_path: str, content: str) -> WriteResult:
        return _result(WriteResult, await self._native.write(file_path, content))

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        return _result(EditResult, self._native.edit(file_path, old_string, new_string, replace_all).wait())

    async def aedit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        return _result(EditResult, await self._native.edit(file_path, old_string, new_string, replace_all))

    def delete(self, file_path: str) -> DeleteResult:
        return _result(DeleteResult, self._native.delete(file_path).wait())

    async def adelete(self, file_path: str) -> DeleteResult:
        return _result(DeleteResult, await self._native.delete(file_path))

    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        return _result(GrepResult, self._native.grep(pattern, path, glob, max_count).wait())

    async def agrep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        return _result(GrepResult, await self._native.grep(pattern, path, glob, max_count))

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        return _result(GlobResult, self._native.glob(pattern, path).wait())

    async def aglob(self, pattern: str, path: str | None = None) -> GlobResult:
        return _result(GlobResult, await self._native.glob(pattern, path))

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        return [FileUploadResponse(**answer) for answer in self._native.upload_files(files).wait()]

    async def aupload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        return [FileUploadResponse(**answer) for answer in await self._native.upload_files(files)]

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return [FileDownloadResponse(*answer) for answer in self._native.download_files(paths).wait()]

    async def adownload_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return [FileDownloadResponse(*answer) for answer in await self._native.download_files(paths)]


def _result(kind: type[T], fields: dict[str, Any]) -> T:
    """Make a result of the framework, without fields that an older version does not have."""
    known = getattr(kind, "__dataclass_fields__", fields)
    return kind(**{name: value for name, value in fields.items() if name in known})


def _offload_result(fields: dict[str, Any]) -> ExecuteOffloadResult:
    return ExecuteOffloadResult(**{**fields, "response": _result(ExecuteResponse, fields["response"])})
