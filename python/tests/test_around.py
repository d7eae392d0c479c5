"""Mounts, overlays, limits, layers, snapshots and sessions of a sandbox."""

import json
from pathlib import Path

import isopod
import pytest


def test_mounts(tmp_path: Path) -> None:
    for name in ("rw", "ro", "over"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text("host\n")
    sandbox = isopod.Sandbox(
        mounts={"/workspace": tmp_path / "rw"},
        read_only={"/mnt/ro": str(tmp_path / "ro")},
        overlays={"/mnt/over": tmp_path / "over"},
    )
    answer = sandbox.execute("cat f /mnt/ro/f /mnt/over/f; echo new > f; echo new > /mnt/over/f; echo new > /mnt/ro/f")
    assert answer.stdout == "host\n" * 3 and "Read-only file system" in answer.stderr
    assert [(tmp_path / name / "f").read_text() for name in ("rw", "ro", "over")] == ["new\n", "host\n", "host\n"]
    with pytest.raises(OSError, match="Read-only"):
        sandbox.write("/mnt/ro/x", "")


def test_mount_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        isopod.Sandbox(mounts={"/workspace": tmp_path / "missing"})
    assert raised.value.filename == str(tmp_path / "missing")


def test_protected_paths(tmp_path: Path) -> None:
    (tmp_path / ".git" / "hooks").mkdir(parents=True)
    command = "echo evil > .git/hooks/pre-commit"
    assert not isopod.Sandbox(mounts={"/workspace": tmp_path}).execute(command).ok
    assert isopod.Sandbox(mounts={"/workspace": tmp_path}, allow=["all"]).execute(command).ok
    with pytest.raises(isopod.RequestError, match="allow"):
        isopod.Sandbox(allow=["no such pattern"])


def test_overlay_is_shown_committed_and_discarded(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "gone").write_text("x\n")
    sandbox = isopod.Sandbox(overlays={"/workspace": tmp_path})
    assert sandbox.overlays == ["/workspace"] and sandbox.diff() == ([], "")
    sandbox.execute("echo two >> a.txt; rm gone; mkdir d; echo new > d/n")
    changes, patch = sandbox.diff("/workspace")
    assert [(change.path, change.what, change.kind) for change in changes] == [
        ("a.txt", "changed", "file"),
        ("d", "created", "directory"),
        ("d/n", "created", "file"),
        ("gone", "deleted", "file"),
    ]
    assert str(changes[0]) == "M a.txt" and "+two" in patch
    sandbox.discard()
    assert sandbox.diff().changes == [] and sandbox.read("a.txt") == "one"
    sandbox.write("a.txt", "three\n")
    sandbox.commit()
    assert (tmp_path / "a.txt").read_text() == "three\n" and sandbox.diff().changes == []


async def test_overlay_twins(tmp_path: Path) -> None:
    sandbox = isopod.Sandbox(overlays={"/workspace": tmp_path})
    await sandbox.awrite("f", "x")
    assert len((await sandbox.adiff()).changes) == 1
    await sandbox.adiscard()
    await sandbox.awrite("g", "x")
    await sandbox.acommit()
    assert (tmp_path / "g").read_text() == "x" and not (tmp_path / "f").exists()


def test_which_overlay(tmp_path: Path) -> None:
    with pytest.raises(isopod.RequestError, match="there are 0 overlays"):
        isopod.Sandbox().diff()
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    sandbox = isopod.Sandbox(overlays={"/a": tmp_path / "a", "/b": tmp_path / "b"})
    with pytest.raises(isopod.RequestError, match="there are 2 overlays"):
        sandbox.commit()
    with pytest.raises(isopod.RequestError, match="no overlay at"):
        sandbox.commit("/c")
    assert sandbox.diff("/b").changes == []


def test_limits() -> None:
    limits = isopod.Limits(wall="500ms", process_memory="64M", processes=8, fuel=10**9)
    assert limits.wall == 0.5 and limits == isopod.Limits(wall=0.5, process_memory=64 << 20, processes=8, fuel=10**9)
    assert isopod.Limits(hardened=True).wall < isopod.Limits().wall
    assert isopod.Sandbox(limits=limits).limits == limits
    answer = isopod.Sandbox(limits=isopod.Limits(disk="1M")).execute("head -c 2000000 /dev/zero > f")
    assert not answer.ok and [str(limit) for limit in answer.limits] == ["limit exceeded: disk (1 MiB)"]
    for fields in ({"wall": 0}, {"wall": "soon"}, {"output": 1.5}, {"processes": -1}, {"typo": 1}, {"disk": None}):
        with pytest.raises(isopod.RequestError, match=f"limit {next(iter(fields))}"):
            isopod.Limits(**fields)


def test_programs() -> None:
    assert isopod.Sandbox(deny_programs=["sed"]).execute("echo a | sed s/a/b/").exit_code == 126
    assert isopod.Sandbox(allow_programs=["cat"]).execute("echo a | cat").stdout == "a\n"
    with pytest.raises(isopod.RequestError):
        isopod.Sandbox(allow_programs=["cat"], deny_programs=["sed"])


def test_environment_and_directory() -> None:
    sandbox = isopod.Sandbox(env={"A": "1"}, cwd="/tmp", id="mine")
    assert sandbox.execute("echo $A $PWD").stdout == "1 /tmp\n" and sandbox.id == "mine"
    assert isopod.Sandbox().id != isopod.Sandbox().id
    with pytest.raises(FileNotFoundError):
        isopod.Sandbox(cwd="/missing")


def test_snapshot_and_fork(tmp_path: Path) -> None:
    sandbox = isopod.Sandbox(env={"A": "1"})
    sandbox.write("f", "before\n")
    snapshot = sandbox.snapshot()
    fork = sandbox.fork()
    sandbox.write("f", "after\n")
    for other in (fork, snapshot.fork(), isopod.Sandbox(snapshot=snapshot)):
        assert other.read("f") == "before"
    assert fork.execute("echo $A").stdout == "1\n" and fork.id != sandbox.id

    digest = snapshot.save(tmp_path / "s.tar.zst")
    with pytest.raises(FileExistsError):
        snapshot.save(tmp_path / "s.tar.zst")
    assert isopod.Snapshot.load(tmp_path / "s.tar.zst", digest=digest).fork().read("f") == "before"
    for bad in ("0" * 64, "no digest"):
        with pytest.raises(isopod.SnapshotError):
            isopod.Snapshot.load(tmp_path / "s.tar.zst", digest=bad)
    (tmp_path / "bad").write_bytes(b"not a snapshot")
    with pytest.raises(isopod.SnapshotError):
        isopod.Snapshot.load(tmp_path / "bad")
    with pytest.raises(FileNotFoundError):
        isopod.Snapshot.load(tmp_path / "missing")


async def test_snapshot_twins(tmp_path: Path) -> None:
    digest = await isopod.Sandbox().snapshot().asave(tmp_path / "s")
    assert (await isopod.Snapshot.aload(tmp_path / "s", digest=digest)).fork().execute("true").ok


def test_session_keeps_its_state() -> None:
    sandbox = isopod.Sandbox()
    with sandbox.session() as session:
        session.execute("cd /tmp; f() { echo $x; }; x=1")
        assert session.execute("f").stdout == "1\n" and session.cwd == "/tmp" and session.is_open
        assert session.execute("sleep 100", timeout=0.2).exit_code == 124
        heard: list[str] = []
        assert session.execute("cat; f", stdin="in\n", on_stdout=heard.append).ok and "".join(heard) == "in\n1\n"
        assert b"".join(chunk.data for chunk in session.stream("echo s")) == b"s\n"
        session.interrupt()
        assert session.execute("exit 5").exit_code == 5
        assert not session.is_open and session.cwd is None
        with pytest.raises(isopod.SessionEndedError):
            session.execute("true")


def test_audit_goes_to_a_function_or_a_file(tmp_path: Path) -> None:
    lines: list[str] = []
    layers = [isopod.Layer.audit(lines.append, actor="ann"), isopod.Layer.audit(tmp_path / "audit.jsonl")]
    sandbox = isopod.Sandbox(layers=layers)
    sandbox.execute("exit 3")
    sandbox.fork().write("f", "x")
    records = [json.loads(line) for line in lines]
    assert [(r["event"], r["operation"]) for r in records] == [
        ("intent", "execute"),
        ("outcome", "execute"),
        ("intent", "write"),
        ("outcome", "write"),
    ]
    assert records[0]["actor"] == "ann" and records[1]["exit_code"] == 3
    assert len((tmp_path / "audit.jsonl").read_text().splitlines()) == 4

    def broken(line: str) -> None:
        raise OSError("no room")

    with pytest.raises(isopod.RefusedError, match="cannot be recorded: OSError: no room"):
        isopod.Sandbox(layers=[isopod.Layer.audit(broken)]).execute("true")


def test_approval_sees_the_plan() -> None:
    asked: list[isopod.Request] = []

    def decide(request: isopod.Request) -> bool | str:
        asked.append(request)
        return "not that" if request.command and "rm" in request.command else True

    sandbox = isopod.Sandbox(layers=[isopod.Layer.approval(decide)])
    assert sandbox.execute("ls | wc -l").ok
    with pytest.raises(PermissionError, match="refused by approval: not that"):
        sandbox.execute("rm -r /")
    sandbox.ls()
    sandbox.write("f", "four")
    assert [request.operation for request in asked] == ["execute", "execute", "write"]
    assert asked[0].plan and [step["program"]["text"] for step in asked[0].plan["steps"]] == ["ls", "wc"]
    assert (asked[2].path, asked[2].bytes, asked[2].plan) == ("f", 4, None)

    def confused(request: isopod.Request) -> bool:
        raise ZeroDivisionError

    with pytest.raises(isopod.RefusedError, match="ZeroDivisionError"):
        isopod.Sandbox(layers=[isopod.Layer.approval(confused)]).execute("true")


def test_approval_may_use_a_sandbox() -> None:
    other = isopod.Sandbox()
    layer = isopod.Layer.approval(lambda request: other.execute("true").ok)
    assert isopod.Sandbox(layers=[layer]).execute("echo yes").stdout == "yes\n"


def test_lists_quota_redaction_and_names() -> None:
    layer = isopod.Layer
    sandbox = isopod.Sandbox(layers=[layer.deny(["/workspace/secret"], with_commands=True)])
    assert sandbox.execute("echo x > secret").ok
    with pytest.raises(isopod.RefusedError):
        sandbox.read("secret")
    assert sandbox.ls() == []
    with pytest.raises(isopod.RefusedError, match="commands"):
        isopod.Sandbox(layers=[layer.deny(["/x"])]).execute("true")
    allowed = isopod.Sandbox(layers=[layer.allow(["/workspace"], only_writes=True, with_commands=True)])
    allowed.write("f", "")
    with pytest.raises(isopod.RefusedError):
        allowed.write("/tmp/f", "")
    quota = isopod.Sandbox(layers=[layer.write_quota(10)])
    quota.write("f", "12345678")
    with pytest.raises(isopod.RefusedError, match="write quota"):
        quota.write("g", "12345678")
    redacted = isopod.Sandbox(layers=[layer.redact([r"sk-\w+"], replacement="***")])
    assert redacted.execute("echo sk-1 and sk-2").stdout == "*** and ***\n"
    assert [chunk.data for chunk in redacted.stream("echo sk-1")] == [b"***\n"]
    with pytest.raises(isopod.RequestError):
        isopod.Sandbox(layers=[layer.redact(["("])])
    named = isopod.Sandbox(layers=[layer.path_map({"/mnt/data": "/workspace"})])
    named.write("/mnt/data/f", "x")
    assert named.execute("cat /workspace/f").stdout == "x"
    with pytest.raises(FileNotFoundError):
        named.ls("/etc")


def test_session_and_layers_do_not_go_together() -> None:
    with pytest.raises(NotImplementedError, match="session"):
        isopod.Sandbox(layers=[isopod.Layer.write_quota(10)]).session()
