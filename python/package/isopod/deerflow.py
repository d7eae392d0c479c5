"""Sandboxes for DeerFlow, by one line of its configuration:

    sandbox:
      use: isopod.deerflow:IsopodSandboxProvider
      replicas: 8            # sandboxes in memory; the least recently used goes first
      idle_timeout: 600      # seconds that a released one stays warm; 0 is for ever
      mounts:
        - {host_path: ./data, container_path: /mnt/data, read_only: true}

A thread's directories are mounted as ``/mnt/user-data/{workspace,uploads,outputs}``, the skills read-only as
``/mnt/skills``. Files there outlive the sandbox; all others (``/tmp``, the home directory) last while it is warm.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from isopod import _isopod
from isopod import sandbox as isopod_sandbox
from isopod._isopod import Limits

try:
    from deerflow.sandbox.sandbox import Sandbox as _SandboxBase
    from deerflow.sandbox.sandbox_provider import SandboxProvider as _ProviderBase
    from deerflow.sandbox.search import GrepMatch
except ImportError:

    class _SandboxBase:  # type: ignore[no-redef]
        """Stands in for DeerFlow's own class where it is not installed."""

        def __init__(self, id: str) -> None:
            self._id = id

        @property
        def id(self) -> str:
            return self._id

    class _ProviderBase:  # type: ignore[no-redef]
        """Stands in for DeerFlow's own class where it is not installed."""

    class GrepMatch(NamedTuple):  # type: ignore[no-redef]
        """A line that matches."""

        path: str
        line_number: int
        line: str


__all__ = ["GrepMatch", "IsopodSandboxProvider", "Sandbox"]

USER_DATA = "/mnt/user-data"
SKILLS = "/mnt/skills"
DIRECTORIES = ("workspace", "uploads", "outputs")

logger = logging.getLogger(__name__)


class Sandbox(_SandboxBase):
    """A sandbox with the interface of DeerFlow. Errors of files are Python's own exceptions."""

    persistent_shell_sessions = False

    def __init__(self, id: str, sandbox: isopod_sandbox.Sandbox) -> None:
        """Wrap a sandbox under this id."""
        super().__init__(id)
        self.sandbox = sandbox
        """The sandbox behind it."""
        self._native = _isopod.DeerFlow(sandbox._backend)

    def execute_command(self, command: str, env: dict[str, str] | None = None, timeout: float | None = None) -> str:
        """Execute a command. Return its output, errors and exit code as one text."""
        return self._native.execute_command(command, env, timeout).wait()

    def read_file(self, path: str, start_line: int | None = None, end_line: int | None = None) -> str:
        """Read lines of a text file. Numbers start at 1, and ``end_line`` is included."""
        return self._native.read_file(path, start_line, end_line).wait()

    def download_file(self, path: str) -> bytes:
        """Read a file whole."""
        return self._native.download_file(path).wait()

    def list_dir(self, path: str, max_depth: int = 2) -> list[str]:
        """List a directory; the paths of directories end in a slash."""
        return self._native.list_dir(path, max_depth).wait()

    def write_file(self, path: str, content: str, append: bool = False) -> None:
        """Write a text file, or add to its end."""
        self._native.write_file(path, content, append).wait()

    def update_file(self, path: str, content: bytes) -> None:
        """Write a file of bytes."""
        self._native.update_file(path, content).wait()

    def glob(
        self, path: str, pattern: str, *, include_dirs: bool = False, max_results: int = 200
    ) -> tuple[list[str], bool]:
        """Find files by name. Return their paths, and True if there are more."""
        return self._native.glob(path, pattern, include_dirs, max_results).wait()

    def grep(
        self,
        path: str,
        pattern: str,
        *,
        glob: str | None = None,
        literal: bool = False,
        case_sensitive: bool = False,
        max_results: int = 100,
    ) -> tuple[list[GrepMatch], bool]:
        """Find lines by a regular expression. Return the lines, and True if there are more."""
        rows, more = self._native.grep(path, pattern, glob, literal, case_sensitive, max_results).wait()
        return [GrepMatch(path=path, line_number=number, line=line) for path, number, line in rows], more


class _Kept(NamedTuple):
    owner: tuple[str | None, str] | None
    sandbox: Sandbox
    released: float


class IsopodSandboxProvider(_ProviderBase):
    """A sandbox for each thread. A released one stays warm for its thread and is never given to another."""

    uses_thread_data_mounts = True
    needs_upload_permission_adjustment = False

    def __init__(
        self,
        *,
        root: str | os.PathLike[str] | None = None,
        skills: str | os.PathLike[str] | None = None,
        replicas: int | None = None,
        idle_timeout: float | None = None,
        mounts: list[dict[str, Any]] | None = None,
        environment: dict[str, str] | None = None,
        limits: Limits | None = None,
    ) -> None:
        """Make a provider. The defaults of all arguments come from DeerFlow's configuration.

        ``root`` is the parent of the threads' directories, for use without DeerFlow.
        """
        app = _app_config()
        config = getattr(app, "sandbox", None)
        self._root = Path(root) if root is not None else None
        self._skills = skills if skills is not None else _skills(app)
        self._skills_place = getattr(getattr(app, "skills", None), "container_path", SKILLS)
        self._replicas = replicas or getattr(config, "replicas", None) or 3
        seconds = idle_timeout if idle_timeout is not None else getattr(config, "idle_timeout", None)
        self._idle_timeout = 600.0 if seconds is None else float(seconds)
        self._mounts = mounts if mounts is not None else list(getattr(config, "mounts", None) or [])
        values = environment if environment is not None else getattr(config, "environment", None) or {}
        self._env = {name: _resolved(value) for name, value in values.items()}
        longest = float(getattr(config, "bash_command_timeout", None) or 600)
        self._limits = limits or Limits(wall=longest, wall_max=max(longest, 3600.0), output="1M")
        # Guards all fields below. Making a sandbox takes microseconds, so it happens under the lock.
        self._lock = threading.Lock()
        self._leased: dict[str, _Kept] = {}
        self._warm: OrderedDict[str, _Kept] = OrderedDict()
        self._timer: threading.Timer | None = None

    def acquire(self, thread_id: str | None = None, *, user_id: str | None = None) -> str:
        """Lease the sandbox of a thread, or a new one if there is none or no thread is given."""
        user_id = user_id if user_id is not None else _effective_user()
        owner = (user_id, thread_id) if thread_id is not None else None
        id = secrets.token_hex(4) if owner is None else sandbox_id(*owner)
        with self._lock:
            kept = self._leased.get(id) or self._warm.get(id)
            if kept is not None and kept.owner != owner:
                raise RuntimeError(f"sandbox {id} belongs to another thread")
            if kept is None:
                self._make_room()
                kept = _Kept(owner, Sandbox(id, self._make(id, thread_id, user_id)), 0.0)
            self._warm.pop(id, None)
            self._leased[id] = kept
        return id

    async def acquire_async(self, thread_id: str | None = None, *, user_id: str | None = None) -> str:
        """The async twin of ``acquire``."""
        return await asyncio.to_thread(self.acquire, thread_id, user_id=user_id)

    def get(self, sandbox_id: str) -> Sandbox | None:
        """Return the leased sandbox of this id."""
        kept = self._leased.get(sandbox_id)
        return kept.sandbox if kept else None

    def release(self, sandbox_id: str) -> None:
        """End a lease, and keep the sandbox warm. Without a lease, do nothing."""
        with self._lock:
            kept = self._leased.pop(sandbox_id, None)
            if kept is not None:
                self._warm[sandbox_id] = kept._replace(released=time.monotonic())
                self._warm.move_to_end(sandbox_id)
                self._sweep()

    def reset(self) -> None:
        """Close every sandbox."""
        with self._lock:
            for kept in [*self._leased.values(), *self._warm.values()]:
                kept.sandbox.sandbox.close()
            self._leased.clear()
            self._warm.clear()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def shutdown(self) -> None:
        """Close every sandbox, at the end of the program."""
        self.reset()

    def count(self) -> tuple[int, int]:
        """Return the numbers of leased and of warm sandboxes."""
        return len(self._leased), len(self._warm)

    def _make(self, id: str, thread_id: str | None, user_id: str | None) -> isopod_sandbox.Sandbox:
        mounts: dict[str, str | os.PathLike[str]] = {}
        read_only: dict[str, str | os.PathLike[str]] = {}
        if thread_id is not None:
            mounts |= {f"{USER_DATA}/{name}": path for name, path in self._directories(thread_id, user_id)}
        if self._skills is not None and os.path.isdir(self._skills):
            read_only[self._skills_place] = self._skills
        for mount in self._mounts:
            fields = mount if isinstance(mount, dict) else vars(mount)
            places = read_only if fields.get("read_only") else mounts
            places[fields["container_path"]] = fields["host_path"]
        cwd = f"{USER_DATA}/workspace" if thread_id is not None else None
        return isopod_sandbox.Sandbox(
            id=id, mounts=mounts, read_only=read_only, env=self._env, limits=self._limits, cwd=cwd
        )

    def _directories(self, thread_id: str, user_id: str | None) -> Iterator[tuple[str, Path]]:
        """Yield the directories of a thread on the host. Missing ones are created."""
        for name in DIRECTORIES:
            path = self._directory(name, thread_id, user_id)
            path.mkdir(parents=True, exist_ok=True)
            yield name, path

    def _directory(self, name: str, thread_id: str, user_id: str | None) -> Path:
        if self._root is not None:
            # A hash, because a thread's name may be any text and is not safe in a path.
            return self._root / sandbox_id(user_id, thread_id) / "user-data" / name
        from deerflow.config.paths import get_paths

        method = getattr(get_paths(), {"workspace": "sandbox_work_dir"}.get(name, f"sandbox_{name}_dir"))
        return Path(method(thread_id, user_id=user_id) if user_id is not None else method(thread_id))

    def _make_room(self) -> None:
        while self._warm and len(self._leased) + len(self._warm) >= self._replicas:
            _, kept = self._warm.popitem(last=False)
            kept.sandbox.sandbox.close()
        if len(self._leased) >= self._replicas:
            logger.warning("all %d sandboxes are leased: one more is made", self._replicas)

    def _sweep(self) -> None:
        """Close sandboxes that were idle for too long, and set a timer for the next one."""
        if self._idle_timeout <= 0:
            return
        now = time.monotonic()
        while self._warm:
            kept = next(iter(self._warm.values()))
            left = kept.released + self._idle_timeout - now
            if left > 0:
                self._come_back(left)
                return
            self._warm.popitem(last=False)
            kept.sandbox.sandbox.close()

    def _come_back(self, seconds: float) -> None:
        if self._timer is not None and self._timer.is_alive() and self._timer is not threading.current_thread():
            return

        def sweep() -> None:
            with self._lock:
                self._sweep()

        self._timer = threading.Timer(seconds, sweep)
        self._timer.daemon = True
        self._timer.start()


def sandbox_id(user_id: str | None, thread_id: str) -> str:
    """Return the id of a thread's sandbox: the same in every process, and different for each user."""
    name = thread_id if user_id is None else f"{user_id}:{thread_id}"
    return hashlib.sha256(name.encode()).hexdigest()[:8]


def _app_config() -> Any:
    """Return DeerFlow's configuration, or None if DeerFlow is not installed."""
    try:
        from deerflow.config import get_app_config
    except ImportError:
        return None
    return get_app_config()


def _skills(app: Any) -> Path | None:
    """Return the directory of DeerFlow's skills."""
    skills = getattr(app, "skills", None)
    return Path(skills.get_skills_path()) if skills is not None else None


def _effective_user() -> str | None:
    """Return the current user of DeerFlow, whose directory contains those of the threads."""
    try:
        from deerflow.runtime.user_context import get_effective_user_id
    except ImportError:
        return None
    user: str | None = get_effective_user_id()
    return user


def _resolved(value: Any) -> str:
    """Resolve a value of the configuration: ``$NAME`` is a variable of the host, which must be set."""
    text = str(value)
    return os.environ[text[1:]] if text.startswith("$") else text
