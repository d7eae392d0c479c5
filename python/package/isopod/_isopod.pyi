"""The native half of the package. Types that `isopod` re-exports unchanged are documented here."""

from collections.abc import Callable, Generator, Mapping, Sequence
from os import PathLike
from typing import Any, Generic, Literal, TypeVar, final

T = TypeVar("T")
Path = str | PathLike[str]
Cut = Literal["count", "budget", "unreadable", "transport"]

@final
class Call(Generic[T]):
    """An operation that has not started. It runs once, when it is waited for or awaited."""

    def wait(self) -> T: ...
    def __await__(self) -> Generator[Any, None, T]: ...

@final
class Output:
    """The result of a command. Texts show bytes that are not UTF-8 as U+FFFD; the bytes are exact."""

    exit_code: int
    """0 to 255; 128 plus the signal's number if the command was killed, 124 if it timed out."""
    stdout: str
    """Standard output."""
    stderr: str
    """Standard error, with a line at its end for each limit that ended the command."""
    output: str
    """Standard output and standard error in the order of writing."""
    stdout_bytes: bytes
    stderr_bytes: bytes
    output_bytes: bytes
    truncated: bool
    """True if the middle of the output was left out because there was too much."""
    timed_out: bool
    """True if the command exceeded its timeout."""
    limits: list[LimitHit]
    """The limits that were hit."""
    usage: Usage
    """The resources that the command used."""
    ok: bool
    """True if the exit code is 0."""

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form of the result, with the fields of `isopod run --json`, HTTP and MCP."""

@final
class LimitHit:
    """A limit that a command hit; `str` of it is the message."""

    limit: str
    """The name of the limit, such as `wall_clock`."""
    value: int
    """The amount that was allowed: milliseconds, instructions, bytes or a count."""
    message: str

@final
class Usage:
    """The resources that a command used."""

    wall_ms: float
    """Milliseconds from start to end."""
    cpu_ms: float
    """Processor time of all its processes, in milliseconds."""
    peak_memory: int
    """Peak memory of its processes together, in bytes."""
    processes: int
    bytes_read: int
    bytes_written: int
    fuel: int | None
    """Executed instructions, if there was a budget."""

@final
class Chunk:
    """A piece of output."""

    channel: Literal["stdout", "stderr"]
    data: bytes

@final
class Entry:
    """An entry of a directory, or a file found by a search."""

    path: str
    kind: Literal["file", "directory", "symlink", "other"]
    size: int
    modified: float
    """Seconds since 1970."""

@final
class Match:
    """A line that matches."""

    path: str
    line: int
    """The number of the line, from 1."""
    text: str
    before: list[str]
    after: list[str]

@final
class Change:
    """A path that an overlay has changed; `str` of it is a line such as `M src/main.py`."""

    path: str
    what: Literal["created", "changed", "deleted"]
    kind: Literal["file", "directory", "symlink", "other"]

@final
class Limits:
    """The limits of a sandbox. Times are seconds or texts such as "500ms"; sizes are bytes or texts such as "64M".

    `hardened` starts from about a quarter of the defaults.
    """

    def __init__(
        self,
        *,
        hardened: bool = False,
        wall: float | str = ...,
        wall_max: float | str = ...,
        fuel: int = ...,
        process_memory: int | str = ...,
        sandbox_memory: int | str = ...,
        processes: int = ...,
        open_files: int = ...,
        output: int | str = ...,
        command: int | str = ...,
        arguments: int | str = ...,
        disk: int | str = ...,
        file: int | str = ...,
        inodes: int = ...,
    ) -> None: ...
    @property
    def wall(self) -> float:
        """Default timeout of a command in seconds."""
    @property
    def wall_max(self) -> float:
        """Maximum timeout of a command in seconds."""

@final
class Request:
    """An operation that `Layer.approval` asks about."""

    operation: str
    path: str | None
    pattern: str | None
    command: str | list[str] | None
    cwd: str | None
    bytes: int | None
    plan: dict[str, Any] | None
    """The programs that the command would run, from its syntax tree. It is information and enforces nothing."""

@final
class Layer:
    """A layer around a sandbox, which sees every operation. The first of several is the innermost."""

    @staticmethod
    def audit(sink: Path | Callable[[str], object], *, actor: str = "agent") -> Layer:
        """Record each operation and its outcome as a line of JSON, in a file or by a function."""
    @staticmethod
    def deny(patterns: Sequence[str], *, only_writes: bool = False, with_commands: bool = False) -> Layer:
        """Refuse file operations on these paths. Commands are refused unless `with_commands`."""
    @staticmethod
    def allow(patterns: Sequence[str], *, only_writes: bool = False, with_commands: bool = False) -> Layer:
        """Refuse file operations on all other paths. Commands are refused unless `with_commands`."""
    @staticmethod
    def write_quota(bytes: int) -> Layer:
        """Limit the bytes that file operations may write in total."""
    @staticmethod
    def redact(patterns: Sequence[str], *, replacement: str = "[redacted]") -> Layer:
        """Replace all matches of regular expressions in file contents and output."""
    @staticmethod
    def path_map(names: Mapping[str, str]) -> Layer:
        """Map paths of file operations (outer to inner). Other paths do not exist for them."""
    @staticmethod
    def approval(decide: Callable[[Request], bool | str]) -> Layer:
        """Ask a function before each command and each change. True approves; a text denies, with that reason."""

@final
class Backend:
    def execute(
        self,
        line: str | list[str],
        timeout: float | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
    ) -> Call[Output]: ...
    def stream(
        self,
        line: str | list[str],
        timeout: float | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
    ) -> Call[Stream]: ...
    def ls(self, path: str) -> Call[tuple[list[Entry], Cut | None]]: ...
    def read(self, path: str, offset: int, limit: int | None) -> Call[str]: ...
    def write(self, path: str, content: bytes, mode: str) -> Call[int]: ...
    def edit(self, path: str, old: str, new: str, replace_all: bool) -> Call[int]: ...
    def delete(self, path: str) -> Call[None]: ...
    def glob(
        self, pattern: str, path: str, directories: bool, hidden: bool, most: int | None
    ) -> Call[tuple[list[Entry], Cut | None]]: ...
    def grep(
        self,
        pattern: str,
        path: str,
        regex: bool,
        ignore_case: bool,
        include: str | None,
        before: int,
        after: int,
        most: int | None,
    ) -> Call[tuple[list[Match], Cut | None]]: ...
    def upload(self, files: Sequence[tuple[str, bytes]]) -> Call[None]: ...
    def download(self, paths: Sequence[str]) -> Call[list[bytes]]: ...

@final
class Stream:
    def next(self) -> Call[Chunk | None]: ...
    def finish(self) -> Call[Output]: ...
    def close(self) -> Call[None]: ...

@final
class Session:
    cwd: str | None
    is_open: bool
    def execute(self, line: str | list[str], timeout: float | None = None, stdin: bytes | None = None) -> Call[Output]: ...
    def stream(self, line: str | list[str], timeout: float | None = None, stdin: bytes | None = None) -> Call[Stream]: ...
    def interrupt(self) -> None: ...
    def close(self) -> Call[None]: ...

@final
class Snapshot:
    def fork(self, id: str) -> Sandbox: ...
    def save(self, path: Path) -> Call[str]: ...
    @staticmethod
    def load(path: Path, limits: Limits | None, digest: str | None) -> Call[Snapshot]: ...

@final
class Sandbox:
    def __init__(
        self,
        *,
        id: str,
        mounts: Mapping[str, Path],
        read_only: Mapping[str, Path],
        overlays: Mapping[str, Path],
        env: Mapping[str, str],
        cwd: str | None,
        limits: Limits | None,
        layers: Sequence[Layer],
        snapshot: Snapshot | None,
        allow: Sequence[str],
        allow_programs: Sequence[str] | None,
        deny_programs: Sequence[str] | None,
    ) -> None: ...
    id: str
    backend: Backend
    limits: Limits
    def session(self) -> Session: ...
    def snapshot(self) -> Snapshot: ...
    def overlays(self) -> list[str]: ...
    def diff(self, path: str | None) -> Call[tuple[list[Change], str]]: ...
    def commit(self, path: str | None) -> Call[None]: ...
    def discard(self, path: str | None) -> Call[None]: ...
    def close(self) -> None: ...

@final
class Provider:
    def __init__(
        self,
        *,
        root: Path | None,
        file: Path | None,
        variables: Mapping[str, str],
        max_count: int | None,
        idle_timeout: float | None,
        limits: Limits | None,
        mounts: Mapping[str, Path],
        read_only: Mapping[str, Path],
        overlays: Mapping[str, Path],
        env: Mapping[str, str],
    ) -> None: ...
    limits: Limits
    def acquire(self, thread: str, user: str | None) -> Call[str]: ...
    def get_or_create(self, id: str | None) -> Call[tuple[str, Backend]]: ...
    def get(self, id: str) -> Backend: ...
    def release(self, id: str) -> Call[None]: ...
    def delete(self, id: str) -> Call[bool]: ...
    def list(
        self, cursor: str | None
    ) -> Call[tuple[list[tuple[str, str, str | None, str | None, dict[str, str]]], str | None]]: ...
    def shutdown(self) -> Call[None]: ...

@final
class DeepAgents:
    def __init__(self, backend: Backend, legacy: bool) -> None: ...
    def ls(self, path: str) -> Call[dict[str, Any]]: ...
    def read(self, path: str, offset: int, limit: int) -> Call[dict[str, Any]]: ...
    def write(self, path: str, content: str) -> Call[dict[str, Any]]: ...
    def edit(self, path: str, old: str, new: str, replace_all: bool) -> Call[dict[str, Any]]: ...
    def delete(self, path: str) -> Call[dict[str, Any]]: ...
    def grep(
        self, pattern: str, path: str | None, glob: str | None, max_count: int | None
    ) -> Call[dict[str, Any]]: ...
    def glob(self, pattern: str, path: str | None) -> Call[dict[str, Any]]: ...
    def upload_files(self, files: Sequence[tuple[str, bytes]]) -> Call[list[dict[str, Any]]]: ...
    def download_files(self, paths: Sequence[str]) -> Call[list[tuple[str, bytes | None, str | None]]]: ...
    def execute(self, command: str, timeout: float | None) -> Call[dict[str, Any]]: ...
    def execute_with_offload(
        self,
        command: str,
        capture_path: str,
        max_inline_bytes: int,
        max_capture_bytes: int | None,
        timeout: float | None,
    ) -> Call[dict[str, Any]]: ...

@final
class DeerFlow:
    def __init__(self, backend: Backend) -> None: ...
    def execute_command(
        self, command: str, env: Mapping[str, str] | None, timeout: float | None
    ) -> Call[str]: ...
    def read_file(self, path: str, start_line: int | None, end_line: int | None) -> Call[str]: ...
    def download_file(self, path: str) -> Call[bytes]: ...
    def list_dir(self, path: str, max_depth: int) -> Call[list[str]]: ...
    def write_file(self, path: str, content: str, append: bool) -> Call[None]: ...
    def update_file(self, path: str, content: bytes) -> Call[None]: ...
    def glob(
        self, path: str, pattern: str, include_dirs: bool, max_results: int
    ) -> Call[tuple[list[str], bool]]: ...
    def grep(
        self,
        path: str,
        pattern: str,
        glob: str | None,
        literal: bool,
        case_sensitive: bool,
        max_results: int,
    ) -> Call[tuple[list[tuple[str, int, str]], bool]]: ...

def time_execute(sandbox: Sandbox, command: str, count: int) -> list[float]:
    """Return the seconds of each of `count` executions without Python, for the benchmark."""
