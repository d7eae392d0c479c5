"""The async twins: the event loop goes on, and a cancelled operation ends."""

import asyncio
import inspect
import time
from collections.abc import Iterator

import isopod
import pytest


@pytest.fixture(scope="module")
def sandbox() -> Iterator[isopod.Sandbox]:
    with isopod.Sandbox() as sandbox:
        yield sandbox


def test_every_method_has_a_twin_of_the_same_signature() -> None:
    for kind in (isopod.Workspace, isopod.Session, isopod.Snapshot, isopod.Provider, isopod.Sandbox):
        for name, twin in inspect.getmembers(kind, inspect.iscoroutinefunction):
            if not name.startswith("_"):
                assert name.startswith("a"), name
                assert inspect.signature(twin) == inspect.signature(getattr(kind, name[1:])), name


async def test_loop_goes_on(sandbox: isopod.Sandbox) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    answers = await asyncio.gather(*(sandbox.aexecute(f"sleep 0.5; echo {n}") for n in range(5)))
    ticking.cancel()
    assert [answer.stdout for answer in answers] == [f"{n}\n" for n in range(5)]
    assert ticks >= 5


async def test_cancelled_command_has_ended(sandbox: isopod.Sandbox) -> None:
    """The command writes a file all the time; after its cancellation nothing writes."""
    command = "touch alive; while :; do echo x >> alive; sleep 0.01; done"
    task = asyncio.create_task(sandbox.aexecute(command))
    while not any(entry.path.endswith("/alive") and entry.size > 0 for entry in await sandbox.als()):
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    sizes = set()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        sizes = {len((await sandbox.adownload("alive"))[0])}
        await asyncio.sleep(0.2)
        sizes.add(len((await sandbox.adownload("alive"))[0]))
        if len(sizes) == 1:
            break
    assert len(sizes) == 1


async def test_errors_are_raised_where_they_are_awaited(sandbox: isopod.Sandbox) -> None:
    with pytest.raises(FileNotFoundError):
        await sandbox.aread("missing")
    with pytest.raises(isopod.RequestError):
        await sandbox.aexecute("")
    with pytest.raises(isopod.RequestError, match="timeout"):
        await sandbox.aexecute("true", timeout=-1)


async def test_streams(sandbox: isopod.Sandbox) -> None:
    stream = await sandbox.astream("echo a; echo b >&2")
    assert {(chunk.channel, chunk.data) async for chunk in stream} == {("stdout", b"a\n"), ("stderr", b"b\n")}
    assert (await stream.aresult()).ok
    async with await sandbox.astream("yes") as endless:
        assert (await anext(endless)).data.startswith(b"y\n")


async def test_listeners_may_be_coroutine_functions(sandbox: isopod.Sandbox) -> None:
    heard: list[str] = []

    async def listener(text: str) -> None:
        await asyncio.sleep(0)
        heard.append(text)

    answer = await sandbox.aexecute("echo out; echo err >&2", on_stdout=listener, on_stderr=heard.append)
    assert sorted(heard) == ["err\n", "out\n"] and answer.output == "out\nerr\n"


async def test_files(sandbox: isopod.Sandbox) -> None:
    assert await sandbox.awrite("a/b.txt", "one\ntwo\n") == 8
    assert await sandbox.aedit("a/b.txt", "two", "three") == 1
    assert await sandbox.aread("a/b.txt", offset=1) == "three"
    assert [found.text for found in await sandbox.agrep("three", "a")] == ["three"]
    assert [found.path for found in await sandbox.aglob("*.txt", "a")] == ["/workspace/a/b.txt"]
    await sandbox.aupload({"a/c": b"\xff"})
    assert await sandbox.adownload("a/c", "a/b.txt") == [b"\xff", b"one\nthree\n"]
    await sandbox.adelete("a")
    with pytest.raises(FileNotFoundError):
        await sandbox.als("a")


async def test_session_survives_a_cancelled_call(sandbox: isopod.Sandbox) -> None:
    async with sandbox.session() as session:
        await session.aexecute("cd /tmp; x=1")
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(session.aexecute("sleep 100"), 0.3)
        assert (await session.aexecute("echo $PWD $x")).stdout == "/tmp 1\n"


async def test_call_is_awaited_once(sandbox: isopod.Sandbox) -> None:
    call = sandbox._backend.execute("true")
    await call
    with pytest.raises(RuntimeError, match="once"):
        await call


def test_loop_that_is_gone_is_no_matter() -> None:
    """A loop that ends while a command runs ends the command; the next loop works."""
    sandbox = isopod.Sandbox()

    async def start() -> None:
        asyncio.ensure_future(sandbox.aexecute("sleep 100"))
        await asyncio.sleep(0.1)

    asyncio.run(start())
    assert asyncio.run(sandbox.aexecute("echo again")).stdout == "again\n"
