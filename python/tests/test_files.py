"""Files, and the exceptions they raise."""

import errno
from collections.abc import Iterator

import isopod
import pytest


@pytest.fixture
def sandbox() -> Iterator[isopod.Sandbox]:
    with isopod.Sandbox() as sandbox:
        yield sandbox


def test_write_modes(sandbox: isopod.Sandbox) -> None:
    assert sandbox.write("f", "é") == 2
    assert sandbox.write("f", b"\xff\n", mode="append") == 2
    with pytest.raises(FileExistsError):
        sandbox.write("f", "x", mode="create")
    with pytest.raises(isopod.RequestError, match="expected replace, create or append"):
        sandbox.write("f", "x", mode="other")  # type: ignore[arg-type]
    assert sandbox.download("f") == [b"\xc3\xa9\xff\n"]


def test_read_pages_lines(sandbox: isopod.Sandbox) -> None:
    sandbox.write("f", "a\r\nb\nc\n")
    assert sandbox.read("f") == "a\r\nb\nc"
    assert sandbox.read("f", offset=1, limit=1) == "b"
    assert sandbox.read("f", limit=0) == ""
    with pytest.raises(isopod.RequestError, match="exceeds file length"):
        sandbox.read("f", offset=9)
    sandbox.write("empty", "")
    assert sandbox.read("empty") == ""


def test_large_files_survive(sandbox: isopod.Sandbox) -> None:
    data = bytes(range(256)) * (40 << 10)
    sandbox.upload({"/tmp/large": data})
    assert sandbox.download("/tmp/large") == [data]


def test_listing_says_what_is_there(sandbox: isopod.Sandbox) -> None:
    sandbox.execute("mkdir d; echo hello > f; ln -s f l; touch .h")
    entries = sandbox.ls()
    assert [(entry.path, entry.kind) for entry in entries] == [
        ("/workspace/.h", "file"),
        ("/workspace/d", "directory"),
        ("/workspace/f", "file"),
        ("/workspace/l", "symlink"),
    ]
    assert entries.cut is None and entries[2].size == 6 and entries[2].modified > 1e9


def test_searches_say_when_there_is_more(sandbox: isopod.Sandbox) -> None:
    sandbox.execute("mkdir -p a/b; for i in 1 2 3; do echo TODO $i > a/b/$i.py; done")
    found = sandbox.glob("*.py", max_results=2)
    assert len(found) == 2 and found.cut == "count"
    assert [entry.kind for entry in sandbox.glob("/a/*", directories=True)] == ["directory"]
    lines = sandbox.grep("todo [23]", regex=True, ignore_case=True, include="*.py")
    assert [(match.path, match.line, match.text) for match in lines] == [
        ("/workspace/a/b/2.py", 1, "TODO 2"),
        ("/workspace/a/b/3.py", 1, "TODO 3"),
    ]
    assert lines.cut is None and sandbox.grep("TODO", max_results=1).cut == "count"
    sandbox.write("ctx", "1\n2\n3\n")
    match = sandbox.grep("2", "ctx", before=1, after=1)[0]
    assert (match.before, match.after) == (["1"], ["3"])


@pytest.mark.parametrize(
    ("operation", "error", "number"),
    [
        (lambda s: s.read("no"), FileNotFoundError, errno.ENOENT),
        (lambda s: s.ls("no"), FileNotFoundError, errno.ENOENT),
        (lambda s: s.delete("no"), FileNotFoundError, errno.ENOENT),
        (lambda s: s.edit("no", "a", "b"), FileNotFoundError, errno.ENOENT),
        (lambda s: s.download("no"), FileNotFoundError, errno.ENOENT),
        (lambda s: s.ls("file"), NotADirectoryError, errno.ENOTDIR),
        (lambda s: s.write("/tmp", "x"), IsADirectoryError, errno.EISDIR),
        (lambda s: s.write("/bin/ls", "x"), OSError, errno.EROFS),
        (lambda s: s.write("file/x", "x"), NotADirectoryError, errno.ENOTDIR),
        (lambda s: s.write("x" * 300, "x"), OSError, errno.ENAMETOOLONG),
        (lambda s: s.write("big", b"x" * (200 << 20)), OSError, errno.EFBIG),
        (lambda s: s.read("loop"), OSError, errno.ELOOP),
    ],
)
def test_file_systems_errors_are_os_errors(
    sandbox: isopod.Sandbox, operation: object, error: type[OSError], number: int
) -> None:
    sandbox.execute("touch file; ln -s loop loop")
    with pytest.raises(error) as raised:
        operation(sandbox)  # type: ignore[operator]
    assert raised.value.errno == number and raised.value.filename


@pytest.mark.parametrize(
    ("operation", "error"),
    [
        (lambda s: s.edit("f", "", "x"), isopod.EditError),
        (lambda s: s.edit("f", "zz", "x"), isopod.EditError),
        (lambda s: s.edit("f", "a", "x"), isopod.EditError),
        (lambda s: s.read("binary"), isopod.NotTextError),
        (lambda s: s.edit("binary", "a", "b"), isopod.NotTextError),
        (lambda s: s.glob("../x"), isopod.RequestError),
        (lambda s: s.grep("(", regex=True), isopod.RequestError),
    ],
)
def test_other_errors_are_ours(sandbox: isopod.Sandbox, operation: object, error: type[isopod.Error]) -> None:
    sandbox.upload({"f": b"a a", "binary": b"\xff\xfe"})
    with pytest.raises(error) as raised:
        operation(sandbox)  # type: ignore[operator]
    assert isinstance(raised.value, isopod.Error) and isinstance(raised.value, ValueError)


def test_edit_all(sandbox: isopod.Sandbox) -> None:
    sandbox.write("f", "a b a")
    assert sandbox.edit("f", "a", "c", replace_all=True) == 2
    assert sandbox.read("f") == "c b c"
