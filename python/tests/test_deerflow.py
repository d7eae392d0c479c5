"""DeerFlow's interface, without DeerFlow and with a stand-in for its modules."""

import asyncio
import errno
import hashlib
import sys
import types
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import pytest
from isopod.deerflow import GrepMatch, IsopodSandboxProvider, Sandbox


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    skills = tmp_path / "skills"
    skills.mkdir()
    (skills / "SKILL.md").write_text("a skill")
    provider = IsopodSandboxProvider(root=tmp_path / "threads", skills=skills)
    sandbox = provider.get(provider.acquire("thread-1"))
    assert sandbox is not None
    return sandbox


def test_commands_are_texts(sandbox: Sandbox) -> None:
    assert sandbox.execute_command("pwd") == "/mnt/user-data/workspace\n"
    assert sandbox.execute_command("echo out; echo err >&2; exit 3") == "out\n\nStd Error:\nerr\n\nExit Code: 3"
    assert sandbox.execute_command("true") == "(no output)"
    assert sandbox.execute_command("echo $TOKEN", env={"TOKEN": "t"}) == "t\n"
    assert "Exit Code: 124" in sandbox.execute_command("sleep 100", timeout=0.2)


def test_files(sandbox: Sandbox) -> None:
    path = "/mnt/user-data/workspace/a/f.txt"
    sandbox.write_file(path, "one\n")
    sandbox.write_file(path, "two\nthree\n", append=True)
    assert sandbox.read_file(path) == "one\ntwo\nthree\n"
    assert sandbox.read_file(path, 2, 2) == "two" and sandbox.read_file(path, start_line=3) == "three"
    sandbox.update_file("/mnt/user-data/outputs/b", b"\xff\x00")
    assert sandbox.download_file("/mnt/user-data/outputs/b") == b"\xff\x00"
    assert sandbox.list_dir("/mnt/user-data/workspace") == [
        "/mnt/user-data/workspace/a/",
        "/mnt/user-data/workspace/a/f.txt",
    ]
    assert sandbox.glob("/mnt/user-data", "*.txt") == ([path], False)
    assert sandbox.glob("/mnt/user-data", "*", include_dirs=True, max_results=1)[1] is True
    matches, more = sandbox.grep("/mnt/user-data", "T[wh]", glob="*.txt")
    assert matches == [GrepMatch(path, 2, "two"), GrepMatch(path, 3, "three")] and not more
    assert sandbox.grep("/mnt/user-data", "T", case_sensitive=True) == ([], False)
    assert sandbox.grep("/mnt/user-data", "t", literal=True, max_results=1)[1] is True
    assert sandbox.read_file("/mnt/skills/SKILL.md") == "a skill"


def test_a_replacement_keeps_the_last_newline(sandbox: Sandbox) -> None:
    path = "/mnt/user-data/workspace/f.py"
    for before, after in [("a = 1\nb = 2\n", "a = 3\nb = 2\n"), ("a = 1", "a = 3"), ("a = 1\n\n", "a = 3\n\n")]:
        sandbox.write_file(path, before)
        # As the framework's tool `str_replace` does.
        sandbox.write_file(path, sandbox.read_file(path).replace("a = 1", "a = 3"))
        assert sandbox.download_file(path) == after.encode()


@pytest.mark.parametrize(
    ("operation", "error", "number"),
    [
        (lambda s: s.read_file("/mnt/user-data/no"), FileNotFoundError, errno.ENOENT),
        (lambda s: s.download_file("/mnt/user-data/no"), FileNotFoundError, errno.ENOENT),
        (lambda s: s.list_dir("/mnt/user-data/no"), FileNotFoundError, errno.ENOENT),
        (lambda s: s.write_file("/mnt/skills/x", ""), OSError, errno.EROFS),
        (lambda s: s.write_file("/mnt/user-data/workspace", ""), IsADirectoryError, errno.EISDIR),
        (lambda s: s.read_file("/mnt/user-data/workspace/binary"), UnicodeDecodeError, None),
        (lambda s: s.grep("/mnt", "("), ValueError, None),
    ],
)
def test_errors_are_pythons(sandbox: Sandbox, operation: Any, error: type[Exception], number: int | None) -> None:
    sandbox.update_file("/mnt/user-data/workspace/binary", b"\xff\xfe")
    with pytest.raises(error) as raised:
        operation(sandbox)
    assert getattr(raised.value, "errno", None) == number


def test_life_of_a_sandbox(tmp_path: Path) -> None:
    provider = IsopodSandboxProvider(root=tmp_path, replicas=2, environment={"A": "1"})
    id = provider.acquire("t")
    assert id == hashlib.sha256(b"t").hexdigest()[:8] == provider.acquire("t")
    assert provider.acquire("t", user_id="ann") == hashlib.sha256(b"ann:t").hexdigest()[:8] != id
    sandbox = provider.get(id)
    assert sandbox is not None and sandbox.id == id
    sandbox.execute_command("echo $A > /tmp/warm; echo kept > kept")
    provider.release(id)
    provider.release(id)
    assert provider.get(id) is None and provider.count() == (1, 1)
    assert provider.acquire("t") == id and provider.get(id) is sandbox
    assert sandbox.read_file("/tmp/warm") == "1\n"

    # A third one evicts the least recently used warm sandbox, whose directories stay.
    provider.release(id)
    other = provider.acquire("other")
    assert provider.count() == (2, 0)
    provider.release(other)
    again = provider.get(provider.acquire("t"))
    assert again is not None and again is not sandbox
    assert again.read_file("/mnt/user-data/workspace/kept") == "kept\n"
    with pytest.raises(FileNotFoundError):
        again.read_file("/tmp/warm")
    assert provider.acquire() != provider.acquire()
    provider.shutdown()
    assert provider.count() == (0, 0)


def test_idle_ones_go(tmp_path: Path) -> None:
    provider = IsopodSandboxProvider(root=tmp_path, idle_timeout=0.2)
    for thread in ("a", "b"):
        provider.release(provider.acquire(thread))
    assert provider.count() == (0, 2)
    timer = provider._timer
    while timer is not None:
        timer.join(10)
        timer = provider._timer if provider._timer is not timer else None
    assert provider.count() == (0, 0)


async def test_acquire_async(tmp_path: Path) -> None:
    provider = IsopodSandboxProvider(root=tmp_path)
    ids = await asyncio.gather(*(provider.acquire_async("t") for _ in range(20)))
    assert len(set(ids)) == 1 and provider.count() == (1, 0)


def test_mounts_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    mounts = [{"host_path": str(tmp_path / "data"), "container_path": "/mnt/data", "read_only": True}]
    provider = IsopodSandboxProvider(root=tmp_path / "t", mounts=mounts)
    sandbox = provider.get(provider.acquire("t"))
    assert sandbox is not None and "Read-only" in sandbox.execute_command("touch /mnt/data/x")


def test_within_deerflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where DeerFlow is installed its classes are subclassed, and its configuration and directories are used."""

    class Base(ABC):
        def __init__(self, id: str) -> None:
            self._id = id

        id = property(lambda self: self._id)

        @abstractmethod
        def execute_command(self, command: str) -> str: ...

    class Provider(ABC):
        @abstractmethod
        def acquire(self, thread_id: str | None = None) -> str: ...

    class Paths:
        def sandbox_work_dir(self, thread: str, *, user_id: str | None = None) -> Path:
            return tmp_path / str(user_id) / thread / "workspace"

        def sandbox_uploads_dir(self, thread: str, *, user_id: str | None = None) -> Path:
            return tmp_path / str(user_id) / thread / "uploads"

        def sandbox_outputs_dir(self, thread: str, *, user_id: str | None = None) -> Path:
            return tmp_path / str(user_id) / thread / "outputs"

    skills = types.SimpleNamespace(get_skills_path=lambda: tmp_path / "no skills")
    mount = types.SimpleNamespace(host_path=str(tmp_path), container_path="/mnt/all", read_only=True)
    sandbox_config = types.SimpleNamespace(
        replicas=5, idle_timeout=0, mounts=[mount], environment={"KEY": "$SOME_KEY"}, bash_command_timeout=7
    )
    app = types.SimpleNamespace(sandbox=sandbox_config, skills=skills)
    contents: dict[str, dict[str, Any]] = {
        "deerflow": {},
        "deerflow.config": {"get_app_config": lambda: app},
        "deerflow.config.paths": {"get_paths": Paths},
        "deerflow.runtime": {},
        "deerflow.runtime.user_context": {"get_effective_user_id": lambda: "default"},
        "deerflow.sandbox": {},
        "deerflow.sandbox.sandbox": {"Sandbox": Base},
        "deerflow.sandbox.sandbox_provider": {"SandboxProvider": Provider},
        "deerflow.sandbox.search": {"GrepMatch": GrepMatch},
    }
    for name, members in contents.items():
        module = types.ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "isopod.deerflow")
    monkeypatch.setenv("SOME_KEY", "secret")
    import isopod.deerflow as deerflow

    provider = deerflow.IsopodSandboxProvider()
    assert isinstance(provider, Provider)
    id = provider.acquire("t")
    sandbox = provider.get(id)
    assert isinstance(sandbox, Base) and id == hashlib.sha256(b"default:t").hexdigest()[:8]
    assert sandbox.execute_command("echo $KEY; echo x > f; ls /mnt/all/default/t") == "secret\noutputs\nuploads\nworkspace\n"
    assert (tmp_path / "default" / "t" / "workspace" / "f").read_text() == "x\n"
    provider.reset()
