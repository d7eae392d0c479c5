"""Counts by module which of CPython's own tests pass in the sandbox: makes the table of docs/python.md.

    python3 tests/cpython/share.py target/release/isopod TESTS [MODULE…]

TESTS is a directory that holds CPython's `test` package, such as that of Debian's libpython3.14-testsuite (with
test/support of libpython3.14-stdlib). `-v` before the modules prints the tests that do not pass.
"""

import subprocess
import sys

MODULES = """
argparse ast base64 bisect calendar collections configparser contextlib copy csv dataclasses datetime decimal difflib enum
fractions functools glob gzip hashlib heapq io itertools json math operator os pathlib pickle posixpath pprint random re
shlex shutil sqlite3 statistics string struct subprocess tempfile textwrap tomllib typing unittest urlparse uuid zipfile
zlib asyncio.test_tasks asyncio.test_locks asyncio.test_queues asyncio.test_taskgroups
""".split()

#: Tests of later fixes, which hang or crash without them. They count as failed.
ENDLESS = """
ReDoS test_sniff_regex_backtracking test_sniff_quoted_single_column test_sniff_single_column test_sniff_space_delimiter
test_mutate_dict_items_during_encode test_mutate_list_during_encode test_current_indent_level test_divide_unbound_context
test_grouper_reentrant_eq_does_not_crash test_groupby_reentrant_eq_does_not_crash
""".split()

#: Runs in the sandbox. Prints the numbers of all, failed and skipped tests, and the names of the failed ones.
RUNNER = """
import sys, unittest, test.support
# test.support assumes that no Python for WASI has processes.
test.support.has_subprocess_support = True
sys.argv[0] = "python3 -m unittest"
name = sys.argv[1]
tests = unittest.defaultTestLoader.loadTestsFromName(name)


def each(suite):
    for one in suite:
        yield from each(one) if isinstance(one, unittest.TestSuite) else [one]


endless = [one for one in each(tests) if any(word in one.id() for word in sys.argv[2:])]
tests = unittest.TestSuite(one for one in each(tests) if one not in endless)
result = unittest.TextTestRunner(stream=open("/dev/null", "w", errors="replace"), verbosity=0).run(tests)
wrong = [test.id() for test, _ in result.failures + result.errors] + [test.id() for test in endless]
wrong += [test.id() for test in result.unexpectedSuccesses]
# A test with several failed subtests counts once.
wrong = sorted({name.split(" (")[0].split(" [")[0] for name in wrong})
print("counts", result.testsRun + len(endless), len(wrong), len(result.skipped))
for line in wrong:
    print("wrong", line)
"""


def run(isopod, tests, module):
    name = f"test.test_{module}"
    command = [isopod, "run", "--dir", f"{tests}:/tests:ro", "--env", "PYTHONPATH=/tests", "--memory", "1G"]
    command += ["--timeout", "1200", "--cwd", "/tmp", "--", "python3", "-c", RUNNER, name, *ENDLESS]
    answer = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    lines = [line.split(" ") for line in answer.stdout.splitlines()]
    counts = [[int(number) for number in line[1:]] for line in lines if line[0] == "counts"]
    wrong = [line[1] for line in lines if line[0] == "wrong"]
    return (counts[-1] if counts else None), wrong, answer.stderr.strip().splitlines()[-1:]


def main():
    isopod, tests, *modules = sys.argv[1:]
    verbose = modules[:1] == ["-v"]
    print("| module | tests | pass | skipped | share |")
    print("|---|---:|---:|---:|---:|")
    for module in modules[verbose:] or MODULES:
        counts, wrong, said = run(isopod, tests, module)
        if counts is None:
            print(f"| {module} | – | – | – | did not finish: {' '.join(said)} |", flush=True)
            continue
        ran, bad, skipped = counts
        tried = ran - skipped
        share = f"{100 * (tried - bad) / tried:.1f} %" if tried else "–"
        print(f"| {module} | {tried} | {tried - bad} | {skipped} | {share} |", flush=True)
        if verbose:
            print(*(f"  {test}" for test in wrong), *said, sep="\n", flush=True)


main()
