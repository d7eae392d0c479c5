"""Every tool, over every transport, by the official client."""

import base64

import anyio
import pytest
from conftest import connected, facts, refusal, text
from mcp.shared.exceptions import MCPError

pytestmark = pytest.mark.anyio

# name: (read-only, destructive, idempotent)
TOOLS = {
    "execute": (False, True, False),
    "read": (True, False, True),
    "write": (False, True, False),
    "edit": (False, True, False),
    "delete": (False, True, True),
    "ls": (True, False, True),
    "glob": (True, False, True),
    "grep": (True, False, True),
    "upload": (False, True, False),
    "download": (True, False, True),
    "snapshot": (False, False, False),
    "fork": (False, True, True),
    "diff": (True, False, True),
}


async def test_every_tool_is_listed_with_schemas_and_annotations(client):
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(listed) == set(TOOLS)
    for name, tool in listed.items():
        hints = tool.annotations
        assert (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint) == TOOLS[name], name
        assert hints.open_world_hint is False
        assert tool.title and len(tool.description) > 20
        assert tool.input_schema["type"] == "object" and tool.input_schema["additionalProperties"] is False
        assert all(argument["description"] for argument in tool.input_schema["properties"].values()), name
        assert tool.output_schema["type"] == "object"


async def test_every_tool_answers(client):
    # The client checks each answer against the tool's schema.
    await client.list_tools()
    assert await facts(client, "write", path="src/main.py", content="import sys\nprint('one')\n") == {"bytes": 24}
    assert (await facts(client, "read", path="src/main.py"))["content"] == "import sys\nprint('one')"
    page = await facts(client, "read", path="src/main.py", offset=1, limit=1)
    assert (page["content"], page["total_lines"], page["next_offset"]) == ("print('one')", 2, None)
    assert (await facts(client, "edit", path="src/main.py", old="'one'", new="'two'"))["occurrences"] == 1
    ran = await facts(client, "execute", command="cat src/main.py | tail -1; echo oops >&2; exit_code() { return 3; }; exit_code")
    assert (ran["exit_code"], ran["stdout"], ran["stderr"]) == (3, "print('two')\n", "oops\n")
    assert [entry["name"] for entry in (await facts(client, "ls"))["entries"]] == ["src"]
    assert (await facts(client, "glob", pattern="*.py"))["paths"] == ["/workspace/src/main.py"]
    found = (await facts(client, "grep", pattern="print|nothing"))["matches"]
    assert [(match["path"], match["line"]) for match in found] == [("/workspace/src/main.py", 2)]

    data = bytes(range(256)) * 40
    encoded = base64.b64encode(data).decode()
    assert (await facts(client, "upload", path="data.bin", base64=encoded))["bytes"] == len(data)
    assert base64.b64decode((await facts(client, "download", path="data.bin"))["base64"]) == data
    changed = (await facts(client, "diff"))["changes"]
    assert [(change["path"], change["change"]) for change in changed if change["kind"] == "file"] == [
        ("/workspace/data.bin", "created"),
        ("/workspace/src/main.py", "created"),
    ]

    assert (await facts(client, "snapshot", name="before"))["snapshots"] == ["before", "start"]
    await facts(client, "delete", path="src")
    assert (await facts(client, "glob", pattern="*.py"))["paths"] == []
    await facts(client, "fork", snapshot="before")
    assert (await facts(client, "read", path="src/main.py"))["lines"] == 2
    await facts(client, "fork", snapshot="start")
    assert (await facts(client, "ls"))["entries"] == []
    assert (await facts(client, "diff"))["changes"] == []


async def test_the_shell_lives_on_until_it_is_restarted_or_ends(client):
    first = await facts(client, "execute", command="cd /tmp; export X=1; f() { echo f$X; }; sleep 1000 &")
    assert (first["shell"], first["cwd"]) == ("new", "/tmp")
    again = await facts(client, "execute", command="f; pwd; jobs -r | wc -l")
    assert (again["shell"], again["stdout"]) == ("same", "f1\n/tmp\n1\n")
    fresh = await facts(client, "execute", command="echo ${X-none}; pwd; jobs -r | wc -l", restart=True)
    assert (fresh["shell"], fresh["stdout"]) == ("new", "none\n/workspace\n0\n")
    ended = await client.call_tool("execute", {"command": "echo bye; exit 7"})
    assert ended.structured_content["shell"] == "ended"
    assert text(ended) == "bye\n[exit code 7]\n[the shell has ended; the next command gets a new one]"
    assert (await facts(client, "execute", command="echo hi"))["shell"] == "new"


async def test_what_background_jobs_write_comes_with_the_next_answer(client):
    await facts(client, "execute", command="(until [ -e go.now ]; do sleep .01; done; echo late; touch done) &")
    await facts(client, "write", path="go.now", content="")
    # Only `read` is called meanwhile, which takes no output: the file shows that the job has written.
    while (await client.call_tool("read", {"path": "done"})).is_error:
        await anyio.sleep(0.01)
    assert (await facts(client, "execute", command="echo now"))["stdout"] == "late\nnow\n"


async def test_standard_input_timeouts_and_too_much_output(client):
    assert (await facts(client, "execute", command="tr a-z A-Z", stdin="abc"))["stdout"] == "ABC"
    late = await facts(client, "execute", command="x=kept; while :; do :; done", timeout_seconds=0.2)
    assert (late["exit_code"], late["timed_out"]) == (124, True)
    assert late["limits"] == [
        {"limit": "wall_clock", "value": 200, "message": "limit exceeded: wall clock (200 ms)"}
    ]
    assert (await facts(client, "execute", command="echo $x"))["stdout"] == "kept\n"
    flood = await facts(client, "execute", command="echo first; yes | head -c 1000000; echo last")
    assert flood["truncated"] and len(flood["stdout"]) < 110_000
    assert flood["stdout"].startswith("first\n") and flood["stdout"].endswith("last\n")
    assert flood["stderr"] == "" and flood["limits"][0]["limit"] == "output"
    words = await facts(client, "execute", command=["printf", "%s|", "a  b", "$HOME", "*", ""])
    assert words["stdout"] == "a  b|$HOME|*||"


async def test_a_refusal_is_one_line_for_the_model(client):
    for name, arguments, expected in [
        ("read", {"path": "missing"}, "missing: No such file or directory"),
        ("edit", {"path": "missing", "old": "a", "new": "b"}, "missing: No such file or directory"),
        ("ls", {"path": "/etc/passwd"}, "/etc/passwd: Not a directory"),
        ("grep", {"pattern": "("}, 'pattern "(": unclosed group'),
        ("glob", {"pattern": "../*"}, 'pattern "../*": `..` is not allowed'),
        ("glob", {"pattern": "*", "max": 0}, "max: 1 to 10000"),
        ("upload", {"path": "x", "base64": "a*=="}, "base64: "),
        ("download", {"path": "/"}, "/: "),
        ("fork", {"snapshot": "x"}, 'no snapshot "x"; there are "start"'),
        ("snapshot", {"name": "start"}, '"start" is the initial state'),
        ("execute", {"command": "true", "timeout_seconds": 1e9}, "limit exceeded: wall clock (300 s)"),
        ("execute", {"command": "true", "timeout_seconds": -1}, "timeout_seconds: not a time"),
        ("execute", {"command": " "}, "the command is empty"),
        ("execute", {}, "arguments: missing field `command`"),
        ("execute", {"command": 1}, "arguments: a command is a string, or an array of strings"),
        ("execute", {"command": "true", "shell": "zsh"}, "arguments: unknown field `shell`"),
        ("write", {"path": "/bin/ls", "content": ""}, "/bin/ls: Read-only file system"),
    ]:
        assert (await refusal(client, name, **arguments)).startswith(expected), (name, arguments)


async def test_an_unknown_tool_is_an_error_of_the_protocol(client):
    with pytest.raises(MCPError, match="unknown tool"):
        await client.call_tool("rm -rf", {})
    with pytest.raises(MCPError, match="unknown tool"):
        await client.call_tool("commit", {})


async def test_progress_is_told_while_a_command_runs(client):
    told = []

    async def progress(seconds, total, message):
        told.append((seconds, message))

    command = "echo one; until [ -e go ]; do sleep .01; done; echo two"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: client.call_tool("execute", {"command": command}, progress_callback=progress))
        while len(told) < 2:
            await anyio.sleep(0.01)
        await facts(client, "write", path="go", content="")
    assert told[0][1] == "one" and told[0][0] < told[1][0]


async def test_a_call_that_is_cancelled_ends_and_the_shell_lives_on(client):
    await facts(client, "execute", command="x=1")
    for command in ["sleep 1000", "while :; do :; done", "sleep 1000 | cat", "cat < /dev/zero > /dev/null"]:
        with anyio.move_on_after(0.5) as scope:
            await client.call_tool("execute", {"command": command, "timeout_seconds": 100})
        assert scope.cancelled_caught
        with anyio.fail_after(5):
            answer = await facts(client, "execute", command="echo $x; ps | grep -c 'sleep\\|cat'")
        assert (answer["stdout"], answer["shell"]) == ("1\n0\n", "same"), command


async def test_calls_at_the_same_time_take_turns_in_the_shell_and_not_in_the_files(client):
    await facts(client, "execute", command="n=0")
    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(lambda: client.call_tool("execute", {"command": "n=$((n + 1))"}))
    assert (await facts(client, "execute", command="echo $n"))["stdout"] == "20\n"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: client.call_tool("execute", {"command": "until [ -e go ]; do sleep .01; done"}))
        await facts(client, "write", path="go", content="")


async def test_an_image_is_shown(client):
    png = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    await facts(client, "upload", path="dot.png", base64=base64.b64encode(png).decode())
    shown = await client.call_tool("read", {"path": "dot.png"})
    assert (shown.content[0].type, shown.content[0].mime_type) == ("image", "image/png")
    assert base64.b64decode(shown.content[0].data) == png
    await facts(client, "upload", path="x.bin", base64=base64.b64encode(b"\xff\xfe\x00").decode())
    assert "not text" in await refusal(client, "read", path="x.bin")


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_directories_of_the_host_and_limits_are_as_for_run(transport, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "over").mkdir()
    (tmp_path / "over" / "a").write_text("old\n")
    options = ["--dir", f"{tmp_path}/own", "--overlay", f"{tmp_path}/over:/over", "--commit", "--timeout", "0.2"]
    async with connected(transport, *options) as client:
        assert "/over: a directory of the user" in client.instructions
        await facts(client, "execute", command="echo x > made; echo new > /over/a; rm -f /over/none")
        assert (tmp_path / "own" / "made").read_text() == "x\n"
        assert (tmp_path / "over" / "a").read_text() == "old\n"
        difference = await facts(client, "diff")
        assert [(change["path"], change["change"]) for change in difference["changes"]] == [("/over/a", "changed")]
        assert "-old\n+new\n" in difference["patch"]
        assert (await facts(client, "commit"))["changes"] == 1
        assert (tmp_path / "over" / "a").read_text() == "new\n"
        assert (await facts(client, "diff"))["changes"] == []
        assert (await facts(client, "execute", command="sleep 1000"))["timed_out"]
