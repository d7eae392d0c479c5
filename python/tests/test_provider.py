"""Sandboxes for conversation threads."""

import subprocess
import sys
from pathlib import Path

import isopod
import pytest


def test_thread_finds_its_sandbox_again(tmp_path: Path) -> None:
    provider = isopod.Provider(tmp_path, max_count=2, idle_timeout=60, env={"A": "1"})
    lease = provider.acquire("t", "u")
    lease.write("f", "x")
    assert lease.execute("echo $A > /tmp/warm; pwd").stdout == "/workspace\n"
    with pytest.raises(isopod.LeaseError, match="in use"):
        provider.acquire("t", "u")
    provider.release(lease.id)
    with pytest.raises(isopod.RefusedError, match="has ended"):
        lease.execute("true")
    again = provider.acquire("t", "u")
    assert again.id == lease.id and again.read("f") == "x" and again.read("/tmp/warm") == "1"
    assert provider.acquire("t", "other").id != lease.id
    with pytest.raises(isopod.LeaseError, match="all 2 sandboxes are leased"):
        provider.acquire("third")
    items, cursor = provider.list()
    assert {(item.thread, item.user, item.state) for item in items} == {("t", "u", "leased"), ("t", "other", "leased")}
    assert cursor is None
    assert provider.delete(lease.id) and not provider.delete(lease.id)
    provider.shutdown()
    with pytest.raises(isopod.LeaseError, match="shut down"):
        provider.acquire("t", "u")


def test_by_id(tmp_path: Path) -> None:
    provider = isopod.Provider(tmp_path)
    lease = provider.get_or_create()
    assert provider.get_or_create(lease.id).id == lease.id == provider.get(lease.id).id
    with pytest.raises(isopod.SandboxNotFoundError):
        provider.get_or_create("00000000")
    with pytest.raises(isopod.RequestError):
        provider.get("../../etc")


def test_files_outlive_the_process(tmp_path: Path) -> None:
    script = f"import isopod; isopod.Provider({str(tmp_path)!r}).acquire('t').write('f', 'from a process')"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
    assert isopod.Provider(tmp_path).acquire("t").read("f") == "from a process"


async def test_twins(tmp_path: Path) -> None:
    provider = isopod.Provider(tmp_path)
    lease = await provider.aacquire("t")
    assert (await lease.aexecute("echo hi")).stdout == "hi\n"
    await provider.arelease(lease.id)
    assert (await provider.aget_or_create(lease.id)).id == lease.id
    assert await provider.adelete(lease.id)
    await provider.ashutdown()


def test_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOPOD_ROOT", str(tmp_path / "root"))
    (tmp_path / "isopod.toml").write_text("max_count = 1\n[limits]\nwall = '7s'\n")
    provider = isopod.Provider(file=tmp_path / "isopod.toml")
    provider.acquire("a")
    with pytest.raises(isopod.LeaseError, match="all 1 sandboxes"):
        provider.acquire("b")
    assert (tmp_path / "root").is_dir()
    (tmp_path / "isopod.toml").write_text("typo = 1\n")
    with pytest.raises(isopod.RequestError, match="isopod.toml:1"):
        isopod.Provider(file=tmp_path / "isopod.toml")
