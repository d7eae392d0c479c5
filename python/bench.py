"""The overhead of Python over Rust, and the gain of threads, measured in one run.

    python python/bench.py [--quick]

The ratio is of medians, measured in turns in the same process, so it also holds on a busy machine.
"""

import argparse
import asyncio
import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import isopod
from isopod import _isopod

# The promise: a warm execute from Python takes at most this many times as long as from Rust.
GOAL = 2.0
COMPUTE = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; echo $i"


def echo(count: int) -> bool:
    sandbox = isopod.Sandbox()
    python: list[float] = []
    session: list[float] = []
    rust: list[float] = []
    live = sandbox.session()
    for _ in range(10):
        rust += _isopod.time_execute(sandbox._native, "echo hi", count)
        for times, execute in ((python, sandbox.execute), (session, live.execute)):
            for _ in range(count):
                began = time.perf_counter()
                answer = execute("echo hi")
                times.append(time.perf_counter() - began)
                assert answer.stdout == "hi\n"
    ratio = statistics.median(python) / statistics.median(rust)
    for name, times in (("Rust", rust), ("Python", python), ("Python, in a session", session)):
        print(f"  {name:24} {statistics.median(times) * 1e6:8.1f} µs (median of {len(times)})")
    print(f"  Python takes {ratio:.2f} × what Rust does; goal ≤ {GOAL}: {'met' if ratio <= GOAL else 'MISSED'}")
    return ratio <= GOAL


def threads(command: str, count: int) -> None:
    sandbox = isopod.Sandbox()
    alone = 0.0
    for number in (1, 2, 4, 8):
        with ThreadPoolExecutor(number) as pool:
            list(pool.map(lambda _: sandbox.execute("true"), range(number)))
            began, computed = time.perf_counter(), time.process_time()
            assert all(answer.ok for answer in pool.map(lambda _: sandbox.execute(command), range(count)))
            rate = count / (time.perf_counter() - began)
            each = (time.process_time() - computed) / count
        alone = alone or rate
        # On a busy machine compare the processor time per command: it grows only if threads hinder each other.
        print(f"  {number} threads: {rate:10.1f} a second, {rate / alone:.2f} × one; {each * 1e6:9.1f} µs of a core each")


async def tasks(count: int) -> None:
    sandbox = isopod.Sandbox()
    for number in (1, 8, 64):
        began = time.perf_counter()

        async def some(number: int = number) -> None:
            for _ in range(count // number):
                assert (await sandbox.aexecute("echo hi")).ok

        await asyncio.gather(*(some() for _ in range(number)))
        print(f"  {number} tasks: {count / (time.perf_counter() - began):10.1f} a second")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds instead of a minute")
    quick = parser.parse_args().quick
    print(f"{os.cpu_count()} cores; warm execute of `echo hi`:")
    is_met = echo(100 if quick else 1000)
    print("`echo hi` on threads:")
    threads("echo hi", 1000 if quick else 10000)
    print("a loop that computes on threads:")
    threads(COMPUTE, 16 if quick else 128)
    print("`echo hi` on asyncio:")
    asyncio.run(tasks(1000 if quick else 10000))
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
