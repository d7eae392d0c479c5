"""The standard suite of Deep Agents: its tests that contradict a later version, and the counts."""

import pytest

# Tests of 0.6 that 0.7 contradicts: there a write replaces an existing file, and a glob returns only files, with
# absolute paths.
CONTRADICTED = {
    "test_glob",
    "test_glob_basic_pattern",
    "test_glob_with_directories",
    "test_glob_hidden_files_explicitly",
    "test_glob_with_character_class",
    "test_glob_with_question_mark",
    "test_write_existing_file_fails",
}
OF_07 = {"TestNative", "TestPlain"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        kind = getattr(item, "cls", None)
        name = getattr(item, "originalname", item.name)
        if kind is not None and kind.__name__ in OF_07 and name in CONTRADICTED:
            item.add_marker(pytest.mark.xfail(strict=True, reason="the suite wants what 0.6 did"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for kind in ("TestLegacy", "TestNative", "TestPlain"):
        counts = {
            outcome: sum(f"test_standard.py::{kind}::" in report.nodeid for report in reports)
            for outcome in ("passed", "xfailed", "failed", "skipped")
            if (reports := [r for r in terminalreporter.stats.get(outcome, []) if hasattr(r, "nodeid")])
        }
        if total := sum(counts.values()):
            passed = counts.get("passed", 0)
            terminalreporter.write_line(f"standard suite, {kind}: {passed} of {total} passed {counts}")
