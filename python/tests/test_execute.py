"""Commands: results, streams, timeouts and cancellation."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import isopod
import pytest


@pytest.fixture(scope="module")
def sandbox() -> Iterator[isopod.Sandbox]:
    with isopod.Sandbox() as sandbox:
        yield sandbox


def test_answer_has_both_outputs_apart_and_together(sandbox: isopod.Sandbox) -> None:
    answer = sandbox.execute("echo out; echo err >&2; exit 3")
    assert (answer.stdout, answer.stderr, answer.output) == ("out\n", "err\n", "out\nerr\n")
    assert (answer.exit_code, answer.ok, answer.truncated, answer.timed_out) == (3, False, False, False)
    assert answer.limits == [] and answer.usage.wall_ms > 0
    assert repr(answer).startswith("Output(exit_code=3")


@pytest.mark.parametrize(
    ("command", "options", "stdout"),
    [
        (["printf", "%s|", "a b", "$HOME", "'"], {}, "a b|$HOME|'|"),
        ("cat", {"stdin": "é\n"}, "é\n"),
        ("cat", {"stdin": b"\x00\xff"}, "\x00\ufffd"),
        ("pwd", {"cwd": "/tmp"}, "/tmp\n"),
        ("echo $A-$B", {"env": {"A": "1", "B": "two words"}}, "1-two words\n"),
        ("cat", {}, ""),
    ],
)
def test_options(sandbox: isopod.Sandbox, command: str, options: dict[str, object], stdout: str) -> None:
    assert sandbox.execute(command, **options).stdout == stdout  # type: ignore[arg-type]


def test_bytes_are_exact(sandbox: isopod.Sandbox) -> None:
    data = bytes(range(256)) * 100
    answer = sandbox.execute("cat; cat >&2 <<< x", stdin=data)
    assert answer.stdout_bytes == data and answer.stderr_bytes == b"x\n" and answer.output_bytes == data + b"x\n"


def test_time_that_is_over_is_an_answer(sandbox: isopod.Sandbox) -> None:
    began = time.monotonic()
    answer = sandbox.execute("echo begun; while :; do :; done", timeout=0.3)
    assert time.monotonic() - began < 5
    assert (answer.exit_code, answer.timed_out, answer.stdout) == (124, True, "begun\n")
    assert [str(limit) for limit in answer.limits] == ["limit exceeded: wall clock (300 ms)"]
    assert (answer.limits[0].limit, answer.limits[0].value) == ("wall_clock", 300)


def test_too_much_output_keeps_head_and_tail() -> None:
    sandbox = isopod.Sandbox(limits=isopod.Limits(output=1000))
    for answer in (sandbox.execute("seq 100000"), sandbox.stream("seq 100000").result()):
        assert answer.truncated and answer.stdout.startswith("1\n2\n") and answer.stdout.endswith("100000\n")
        assert len(answer.stdout) < 1100


@pytest.mark.parametrize(
    ("command", "options", "error", "text"),
    [
        ("", {}, isopod.RequestError, "empty"),
        ("a\0b", {}, isopod.RequestError, "NUL"),
        ("true", {"timeout": 0}, isopod.RequestError, "zero"),
        ("true", {"timeout": -1}, isopod.RequestError, "timeout"),
        ("true", {"timeout": float("nan")}, isopod.RequestError, "timeout"),
        ("true", {"timeout": 1e9}, isopod.LimitError, "wall clock"),
        ("true", {"cwd": "/nowhere"}, FileNotFoundError, "/nowhere"),
        ("true", {"env": {"": "x"}}, isopod.RequestError, "name of a variable"),
        ("x" * (2 << 20), {}, isopod.LimitError, "command length"),
    ],
)
def test_what_makes_no_sense_is_raised(
    sandbox: isopod.Sandbox, command: str, options: dict[str, object], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        sandbox.execute(command, **options)  # type: ignore[arg-type]


def test_listeners_get_whole_characters(sandbox: isopod.Sandbox) -> None:
    out: list[str] = []
    err: list[str] = []
    script = r"printf '\303'; printf '\251\n'; printf 'e\n' >&2; printf '\303'"
    answer = sandbox.execute(script, on_stdout=out.append, on_stderr=err.append)
    assert "".join(out) == "é\n\ufffd" and "".join(err) == "e\n"
    assert answer.stdout_bytes == b"\xc3\xa9\n\xc3" and answer.exit_code == 0


def test_output_comes_before_the_end(sandbox: isopod.Sandbox) -> None:
    with sandbox.stream("echo first; sleep 100; echo never") as stream:
        assert next(stream).data == b"first\n"
    with pytest.raises(isopod.ClosedError):
        stream.result()


def test_stream_can_be_closed_while_someone_waits(sandbox: isopod.Sandbox) -> None:
    stream = sandbox.stream("echo first; sleep 100")
    next(stream)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(list, stream)
        stream.close()
        assert waiting.result(timeout=10) == []


def test_stream_has_all_and_a_result(sandbox: isopod.Sandbox) -> None:
    stream = sandbox.stream("echo a; echo b >&2; exit 7")
    assert sorted((chunk.channel, chunk.data) for chunk in stream) == [("stderr", b"b\n"), ("stdout", b"a\n")]
    answer = stream.result()
    assert (answer.exit_code, answer.stdout, answer.stderr) == (7, "a\n", "b\n")


def test_what_a_listener_raises_ends_the_command(sandbox: isopod.Sandbox) -> None:
    def listener(text: str) -> None:
        raise LookupError(text)

    began = time.monotonic()
    with pytest.raises(LookupError, match="first"):
        sandbox.execute("echo first; sleep 100", on_stdout=listener)
    assert time.monotonic() - began < 10


def test_threads_run_side_by_side(sandbox: isopod.Sandbox) -> None:
    """Eight sleeps take the time of one, because the interpreter is released."""
    began = time.monotonic()
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda n: sandbox.execute(f"sleep 1; echo {n}").stdout, range(8)))
    assert answers == [f"{n}\n" for n in range(8)]
    assert time.monotonic() - began < 6


def test_interpreter_goes_on_meanwhile(sandbox: isopod.Sandbox) -> None:
    ended = threading.Event()
    thread = threading.Thread(target=lambda: (sandbox.execute("sleep 1"), ended.set()))
    thread.start()
    count = 0
    while not ended.is_set():
        count += 1
    thread.join()
    assert count > 1000


def test_closing_ends_what_runs() -> None:
    sandbox = isopod.Sandbox()
    with ThreadPoolExecutor(1) as threads, sandbox.stream("echo started; sleep 100") as stream:
        next(stream)
        running = threads.submit(sandbox.execute, "sleep 100")
        waiting = threads.submit(lambda: None)
        while not running.running():
            pass
        sandbox.close()
        with pytest.raises(isopod.ClosedError):
            running.result(timeout=10)
        waiting.result(timeout=10)
        with pytest.raises(isopod.ClosedError):
            next(stream)
    sandbox.close()
    for operation in (lambda: sandbox.execute("true"), sandbox.ls, sandbox.session, sandbox.snapshot):
        with pytest.raises(isopod.ClosedError, match="closed"):
            operation()


INTERRUPTED = """
import isopod, sys
sandbox = isopod.Sandbox(mounts={"/workspace": sys.argv[1]})
try:
    sandbox.execute("touch begun; sleep 100; touch ended")
except KeyboardInterrupt:
    print("interrupted", sandbox.execute("ls").stdout.split())
"""


def test_ctrl_c_ends_the_command_and_raises(tmp_path: Path) -> None:
    program = [sys.executable, "-c", INTERRUPTED, str(tmp_path)]
    # What runs in the background of a script ignores SIGINT, and so would its children.
    obeying = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True, preexec_fn=obeying) as process:
        while not (tmp_path / "begun").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "interrupted ['begun']\n")


def test_program_may_end_while_commands_run() -> None:
    script = (
        "import asyncio, isopod, threading\n"
        "sandbox = isopod.Sandbox()\n"
        "threading.Thread(target=sandbox.execute, args=('sleep 100',), daemon=True).start()\n"
        "stream = sandbox.stream('yes'); next(stream)\n"
        "async def main():\n"
        "    asyncio.ensure_future(sandbox.aexecute('sleep 100'))\n"
        "    await asyncio.gather(*(sandbox.aexecute('echo hi') for _ in range(64)))\n"
        "asyncio.run(main())\n"
    )
    # Many times: what is to be shown is that a race is not there.
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")


def test_forked_child_is_told() -> None:
    script = (
        "import isopod, os, sys\n"
        "sandbox = isopod.Sandbox(); sandbox.execute('true')\n"
        "if os.fork() == 0:\n"
        "    try: sandbox.execute('true')\n"
        "    except RuntimeError as error: print(error, flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert 'multiprocessing\'s "spawn" method' in done.stdout, done.stderr


def test_cut_standard_output_puts_nothing_into_standard_error() -> None:
    with isopod.Sandbox() as sandbox, sandbox.session() as session:
        for answer in (sandbox.execute("seq 1 100000"), session.execute("seq 1 100000")):
            assert answer.truncated and answer.stderr == ""
            assert " bytes left out] ..." in answer.stdout
            assert [limit.limit for limit in answer.limits] == ["output"]


def test_no_shell_looks_at_the_arguments_of_a_program() -> None:
    words = ["printf", "%s|", "a  b", "it's", "$HOME", "*", ""]
    with isopod.Sandbox() as sandbox, sandbox.session() as session:
        assert sandbox.execute(words).stdout == session.execute(words).stdout == "a  b|it's|$HOME|*||"


def test_the_json_form_has_the_attributes_and_the_encoding() -> None:
    with isopod.Sandbox() as sandbox:
        answer = sandbox.execute("printf 'a\\377'")
        fields = answer.as_dict()
        assert (fields["encoding"], fields["stdout"], answer.stdout_bytes) == ("base64", "Yf8=", b"a\xff")
        assert all(hasattr(answer, name) for name in fields if name != "encoding")
        assert all(hasattr(answer.usage, name) for name in fields["usage"])
