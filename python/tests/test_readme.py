"""Runs the examples of both READMEs and of the docstrings."""

import doctest
import re
from pathlib import Path

import isopod
import pytest

PACKAGE = Path(__file__).parent.parent
README = (PACKAGE / "README.md").read_text() + (PACKAGE.parent / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_block_runs(block: str) -> None:
    exec(compile(block, "README.md", "exec"), {"__name__": "readme"})


def test_readme_has_blocks() -> None:
    assert len(BLOCKS) >= 7


def test_docstrings_run() -> None:
    assert doctest.testmod(isopod).failed == 0
