"""The backend for Deep Agents beyond the standard suite, the provider for Deep Agents Code, and the example."""

import runpy
from pathlib import Path
from typing import Any

import isopod
import pytest
from deepagents.backends.protocol import BackendProtocol, SandboxBackendProtocol
from deepagents.backends.sandbox import BaseSandbox
from isopod.deepagents import IsopodSandbox

EXAMPLE = Path(__file__).parent.parent / "examples" / "agent.py"


def test_every_operation_is_native() -> None:
    """No operation uses the framework's scripts."""
    public = {name for kind in (BackendProtocol, SandboxBackendProtocol, BaseSandbox) for name in vars(kind)}
    operations = {name for name in public if not name.startswith("_") and callable(getattr(BaseSandbox, name))}
    assert {"execute", "aexecute_with_offload", "adelete", "ls"} <= operations
    assert operations <= set(vars(IsopodSandbox)), operations - set(vars(IsopodSandbox))


def test_versions_differ_where_they_do() -> None:
    for legacy in (False, True):
        backend = IsopodSandbox(legacy=legacy)
        assert backend.write("/tmp/d/f.txt", "one").path == "/tmp/d/f.txt"
        again = backend.write("/tmp/d/f.txt", "two")
        paths = [match["path"] for match in backend.glob("*", "/tmp").matches or []]
        if legacy:
            assert again.error and "already exists" in again.error and paths == ["d", "d/f.txt"]
        else:
            assert again.error is None and paths == ["/tmp/d/f.txt"]


def test_timeouts() -> None:
    backend = IsopodSandbox(limits=isopod.Limits(wall=5, wall_max=1))
    assert backend.execute("sleep 100", timeout=0).exit_code == 124
    late = backend.execute("echo begun; sleep 100", timeout=1)
    assert late.exit_code == 124 and late.output.startswith("begun\n")
    refused = backend.execute("true", timeout=100)
    assert refused.exit_code == 1 and "wall clock" in refused.output


@pytest.mark.parametrize("is_async", [False, True])
async def test_offload(is_async: bool) -> None:
    backend = IsopodSandbox()

    async def run(command: str, **options: Any) -> Any:
        arguments = {"max_inline_bytes": 1000, **options}
        if is_async:
            return await backend.aexecute_with_offload(command, "/tmp/capture", **arguments)
        return backend.execute_with_offload(command, "/tmp/capture", **arguments)

    short = await run("echo hi; exit 3")
    assert (short.offloaded, short.response.output, short.response.exit_code) == (False, "hi\n", 3)
    assert backend.download_files(["/tmp/capture"])[0].error == "file_not_found"
    long = await run("seq 10000; exit 4")
    assert long.offloaded and long.preview_has_truncation_marker and long.response.exit_code == 4
    assert "... [9990 lines truncated] ..." in long.response.output and not long.response.truncated
    assert backend.download_files(["/tmp/capture"])[0].content == b"".join(b"%d\n" % n for n in range(1, 10001))
    capped = await run("seq 10000", max_capture_bytes=2000)
    assert capped.response.truncated and len(backend.download_files(["/tmp/capture"])[0].content or b"") == 2000
    assert (await run("sleep 100", timeout=1)).response.exit_code == 124


def test_sandbox_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("host")
    backend = IsopodSandbox(mounts={"/workspace": tmp_path}, env={"A": "1"})
    assert backend.execute("cat f; echo $A").output == "host1\n"
    sandbox = isopod.Sandbox()
    assert IsopodSandbox(sandbox).id == sandbox.id
    with pytest.raises(TypeError, match="takes no options: env"):
        IsopodSandbox(sandbox, env={})


def test_example_runs_end_to_end(capsys: pytest.CaptureFixture[str]) -> None:
    messages = runpy.run_path(str(EXAMPLE))["main"]()
    tools = {message.name: message for message in messages if message.type == "tool"}
    assert list(tools) == ["write_file", "execute", "read_file"]
    assert "done\nanalyse.py\nresult.json" in tools["execute"].text and "exit code 0" in tools["execute"].text
    assert '"largest": 13' in tools["read_file"].text
    assert messages[-1].text == "The mean is 6.83, the largest is 13."


def test_provider_for_deep_agents_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Uses the program's own registry, which finds the entry point."""
    registry = pytest.importorskip("deepagents_code.integrations.sandbox_registry")
    from deepagents_code.integrations.sandbox_provider import SandboxError, SandboxNotFoundError

    monkeypatch.setenv("ISOPOD_ROOT", str(tmp_path / "root"))
    sandboxes = registry.SandboxRegistry.load(tmp_path / "no-config.toml")
    assert sandboxes.provider_metadata("isopod").working_dir == "/workspace"
    provider = sandboxes.create_provider("isopod")
    backend = provider.get_or_create()
    assert backend.execute("echo kept > f; pwd").output == "/workspace\n"
    assert provider.get_or_create(sandbox_id=backend.id).read("/workspace/f").file_data["content"] == "kept"
    with pytest.raises(SandboxNotFoundError):
        provider.get_or_create(sandbox_id="00000000")
    with pytest.raises(SandboxError):
        provider.get_or_create(sandbox_id="no id")
    with pytest.raises(TypeError, match="image"):
        provider.get_or_create(image="x")
    provider.delete(sandbox_id=backend.id)
    provider.delete(sandbox_id=backend.id)
    assert "has ended" in backend.execute("true").output


async def test_provider_twins(tmp_path: Path) -> None:
    pytest.importorskip("deepagents_code")
    from isopod.deepagents_code import IsopodProvider

    provider = IsopodProvider(isopod.Provider(tmp_path))
    backend = await provider.aget_or_create()
    assert (await backend.aexecute("echo hi")).output == "hi\n"
    await provider.adelete(sandbox_id=backend.id)
