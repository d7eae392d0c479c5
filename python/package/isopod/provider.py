"""A sandbox for each conversation thread, which finds it again after a restart and from any process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from isopod import _isopod
from isopod._isopod import Limits
from isopod.workspace import Workspace

Path = str | os.PathLike[str]


class SandboxInfo(NamedTuple):
    """The description of a sandbox."""

    id: str
    state: str
    """``leased``, ``warm`` (in memory) or ``stored``."""
    thread: str | None
    user: str | None
    metadata: dict[str, str]


class Lease(Workspace):
    """A leased sandbox. After the end of the lease every operation is refused."""

    def __init__(self, provider: Provider, id: str, backend: _isopod.Backend) -> None:
        super().__init__(backend)
        # A provider ends its leases when it is garbage-collected, so the lease holds a reference.
        self._provider = provider
        self.id = id

    @property
    def limits(self) -> Limits:
        """The limits of the sandbox."""
        return self._provider.limits


class Provider:
    """Keeps sandboxes under one directory. Files in ``/workspace`` stay until the sandbox is deleted.

    A lease is exclusive, among all processes that have the directory open; a released sandbox stays warm for its
    thread until it is idle for too long or the least recently used.
    """

    def __init__(
        self,
        root: Path | None = None,
        *,
        file: Path | None = None,
        max_count: int | None = None,
        idle_timeout: float | None = None,
        limits: Limits | None = None,
        mounts: Mapping[str, Path] | None = None,
        read_only: Mapping[str, Path] | None = None,
        overlays: Mapping[str, Path] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Open a directory, and create it if it is missing.

        Missing arguments are taken from the variables ``ISOPOD_…``, then from the configuration ``file``. The default
        of ``root`` is ``isopod`` in the user's data directory.
        """
        self._native = _isopod.Provider(
            root=root,
            file=file,
            variables=dict(os.environ),
            max_count=max_count,
            idle_timeout=idle_timeout,
            limits=limits,
            mounts=dict(mounts or {}),
            read_only=dict(read_only or {}),
            overlays=dict(overlays or {}),
            env=dict(env or {}),
        )

    @property
    def limits(self) -> Limits:
        """The limits of each sandbox."""
        return self._native.limits

    def acquire(self, thread: str, user: str | None = None) -> Lease:
        """Lease the sandbox of a thread, and create it if there is none."""
        id = self._native.acquire(thread, user).wait()
        return self.get(id)

    async def aacquire(self, thread: str, user: str | None = None) -> Lease:
        """The async twin of ``acquire``."""
        id = await self._native.acquire(thread, user)
        return self.get(id)

    def get(self, id: str) -> Lease:
        """Return the lease of this id."""
        return Lease(self, id, self._native.get(id))

    def get_or_create(self, id: str | None = None) -> Lease:
        """Lease the sandbox of this id, which must exist, or a new one."""
        return Lease(self, *self._native.get_or_create(id).wait())

    async def aget_or_create(self, id: str | None = None) -> Lease:
        """The async twin of ``get_or_create``."""
        return Lease(self, *await self._native.get_or_create(id))

    def release(self, id: str) -> None:
        """End a lease. Running commands are stopped, and the sandbox stays warm."""
        self._native.release(id).wait()

    async def arelease(self, id: str) -> None:
        """The async twin of ``release``."""
        await self._native.release(id)

    def delete(self, id: str) -> bool:
        """Delete a sandbox with its files. Return True if it existed."""
        return self._native.delete(id).wait()

    async def adelete(self, id: str) -> bool:
        """The async twin of ``delete``."""
        return await self._native.delete(id)

    def list(self, cursor: str | None = None) -> tuple[list[SandboxInfo], str | None]:
        """Return a page of sandboxes, and the cursor of the next page."""
        items, next_cursor = self._native.list(cursor).wait()
        return [SandboxInfo(*item) for item in items], next_cursor

    def shutdown(self) -> None:
        """End all leases, and refuse new ones."""
        self._native.shutdown().wait()

    async def ashutdown(self) -> None:
        """The async twin of ``shutdown``."""
        await self._native.shutdown()
