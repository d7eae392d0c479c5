"""Disconnects and their effects, bounds of sessions, keys and origins."""

import http.client
import json
import socket
import subprocess
import time
import urllib.parse

import pytest
from conftest import ISOPOD, Client, facts, http_server, with_key

# Seconds within which a command ends with its client: the documented promise.
WITHIN = 1.0
LOOP = "while :; do echo tick >> /workspace/ticks; done"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
HEAD = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def execute(command, id=1):
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "execute", "arguments": {"command": command}}}


def again(client):
    """Opens a new connection of the same session: a server may close an idle one at any time."""
    return Raw(client.url.geturl(), **client.head)


def ping(client):
    response = client.post({"jsonrpc": "2.0", "id": 5, "method": "ping"})
    response.read()
    return response.status


def wait_until(what, holds):
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < 30, what
        time.sleep(0.01)


def wait_until_it_stops(file):
    """Waits until a file stops growing, and prints the time that took."""
    began = time.monotonic()
    last = began
    size = file.stat().st_size
    while time.monotonic() - last < 0.3:
        time.sleep(0.01)
        if file.stat().st_size != size:
            size, last = file.stat().st_size, time.monotonic()
            assert last - began < WITHIN, "the command runs on"
    print(f"stopped {last - began:.3f} s after the client went")


class Raw:
    """A connection without a client library, which can break off at any point."""

    def __init__(self, url, **head):
        self.url = urllib.parse.urlsplit(url)
        self.head = HEAD | head
        self.connection = http.client.HTTPConnection(self.url.netloc, timeout=30)

    def post(self, message, **head):
        body = message if isinstance(message, (bytes, str)) else json.dumps(message)
        self.connection.request("POST", self.url.path, body, self.head | head)
        return self.connection.getresponse()

    def initialize(self):
        response = self.post(INITIALIZE)
        assert response.status == 200, response.read()
        response.read()
        self.head["Mcp-Session-Id"] = response.headers["Mcp-Session-Id"]
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).read()
        return self

    def delete(self):
        self.connection.request("DELETE", self.url.path, headers=self.head)
        response = self.connection.getresponse()
        response.read()
        return response.status

    def break_off(self):
        self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.connection.close()


@pytest.mark.parametrize("command", ["sleep 1000", "while :; do :; done", "yes > /dev/null | cat", LOOP])
def test_a_client_that_closes_its_input_ends_the_server(command, tmp_path):
    server = subprocess.Popen(
        [ISOPOD, "mcp", "--dir", str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    for message in [INITIALIZE, execute(f"touch began; {command}")]:
        server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
    wait_until("it begins", (tmp_path / "began").exists)
    began = time.monotonic()
    server.stdin.close()
    assert server.wait(WITHIN) == 0
    print(f"ended {time.monotonic() - began:.3f} s after its input")


def test_short_calls_are_answered_although_the_input_is_closed():
    lines = "".join(json.dumps(message) + "\n" for message in [INITIALIZE, execute("sleep .1; echo done")])
    answer = subprocess.run([ISOPOD, "mcp"], input=lines, capture_output=True, text=True, timeout=30)
    results = [json.loads(line) for line in answer.stdout.splitlines()]
    assert [result["id"] for result in results] == [0, 1] and answer.stderr == ""
    assert results[1]["result"]["structuredContent"]["stdout"] == "done\n"


def test_a_session_that_is_deleted_ends_its_commands(tmp_path):
    with http_server("--dir", str(tmp_path)) as (url, _):
        ticks = tmp_path / "ticks"
        client = Raw(url).initialize()
        running = again(client)
        running.connection.request("POST", running.url.path, json.dumps(execute(LOOP)), running.head)
        wait_until("it begins", ticks.exists)
        assert client.delete() == 204
        wait_until_it_stops(ticks)
        assert (ping(again(client)), again(client).delete()) == (404, 404)


def test_a_connection_that_is_dropped_ends_the_call_and_not_the_session(tmp_path):
    with http_server("--dir", str(tmp_path)) as (url, _):
        ticks = tmp_path / "ticks"
        client = Raw(url).initialize()
        client.connection.request("POST", client.url.path, json.dumps(execute("x=1; " + LOOP)), client.head)
        wait_until("it begins", ticks.exists)
        client.break_off()
        wait_until_it_stops(ticks)
        answer = again(client).post(execute("echo $x", id=2)).read().decode()
        assert '"stdout":"1\\n"' in answer and '"shell":"same"' in answer


def test_a_server_that_is_terminated_ends_at_once(tmp_path):
    with http_server("--dir", str(tmp_path)) as (url, process):
        client = Raw(url).initialize()
        client.connection.request("POST", client.url.path, json.dumps(execute(LOOP)), client.head)
        wait_until("it begins", (tmp_path / "ticks").exists)
        process.terminate()
        assert process.wait(WITHIN) == 0


@pytest.mark.anyio
async def test_sessions_are_apart():
    with http_server() as (url, _):
        async with Client(url) as one, Client(url) as two:
            await facts(one, "execute", command="echo secret > file; x=secret")
            assert (await facts(two, "execute", command="ls; echo ${x-none}"))["stdout"] == "none\n"
            assert (await facts(one, "read", path="file"))["content"] == "secret"


def test_sessions_are_bounded_in_number_and_idle_time():
    with http_server("--sessions", "2", "--idle", "1s") as (url, _):
        first, second = Raw(url).initialize(), Raw(url).initialize()
        full = Raw(url).post(INITIALIZE)
        assert full.status == 503 and full.headers["Retry-After"]
        assert first.delete() == 204
        third = Raw(url).initialize()
        # A ping is a use of the session, so there must be none for more than a second before it.
        wait_until("they are idle", lambda: time.sleep(1.5) or {ping(second), ping(third)} == {404})


def test_pages_of_a_browser_are_refused():
    with http_server("--allow-origin", "http://localhost:6274") as (url, _):
        host = urllib.parse.urlsplit(url)
        for head, status in [
            ({}, 200),
            ({"Host": f"localhost:{host.port}"}, 200),
            ({"Host": f"evil.example:{host.port}"}, 403),
            ({"Origin": "http://evil.example"}, 403),
            ({"Origin": "null"}, 403),
            ({"Origin": f"http://127.0.0.1:{host.port}"}, 403),
            ({"Origin": "http://localhost:6274"}, 200),
        ]:
            assert Raw(url).post(INITIALIZE, **head).status == status, head


def test_requests_that_make_no_sense_are_refused():
    with http_server() as (url, process):
        session = Raw(url).initialize().head["Mcp-Session-Id"]
        for body, head, status in [
            (b"{", {}, 400),
            (b"[" * 100_000, {}, 400),
            (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}', {}, 400),
            (json.dumps(execute("true")), {}, 400),
            (json.dumps(execute("true")), {"Mcp-Session-Id": "00000000"}, 404),
            (json.dumps(INITIALIZE), {"Accept": "text/html"}, 406),
            (json.dumps(INITIALIZE), {"Content-Type": "text/plain"}, 415),
            (b" " * (10 << 20), {"Mcp-Session-Id": session}, 413),
        ]:
            assert Raw(url).post(body, **head).status == status, (body[:80], head)
        client = Raw(url)
        client.connection.request("GET", "/", headers=HEAD)
        assert client.connection.getresponse().status == 404
        assert Raw(url, **{"Mcp-Session-Id": session}).post(execute("echo alive")).status == 200


@pytest.mark.anyio
async def test_a_key_is_asked_for(tmp_path):
    key = tmp_path / "key"
    key.write_text("open sesame\n")
    with http_server("--api-key-file", str(key)) as (url, _):
        for head in [{}, {"Authorization": "Bearer open"}, {"Authorization": "Basic open sesame"}, {"Authorization": "Bearer open sesame!"}]:
            response = Raw(url).post(INITIALIZE, **head)
            assert (response.status, response.headers["WWW-Authenticate"]) == (401, "Bearer"), head
        async with with_key(url, "open sesame") as client:
            assert (await facts(client, "execute", command="echo in"))["stdout"] == "in\n"


def test_invalid_options_are_reported_in_one_line(tmp_path):
    empty = tmp_path / "empty"
    empty.write_text("\n")
    for options, code, expected in [
        (["--http", "0.0.0.0:0"], 2, "isopod: 0.0.0.0:0: others can reach this address; --api-key-file is needed"),
        (["--http", "127.0.0.1:0", "--api-key-file", str(empty)], 2, f"isopod: {empty}: holds no key"),
        (["--http", "127.0.0.1:0", "--api-key-file", "/no/key"], 2, "isopod: /no/key: No such file"),
        (["--dir", "/no/such/directory"], 2, "isopod: /no/such/directory: No such file"),
        (["--http", "nowhere"], 2, "error: invalid value 'nowhere'"),
        (["--sessions", "3"], 2, "error: the following required arguments"),
        (["--commit"], 2, "error: the following required arguments"),
        (["--diff"], 2, "error: unexpected argument '--diff'"),
    ]:
        answer = subprocess.run([ISOPOD, "mcp", *options], capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL)
        assert (answer.returncode, answer.stdout) == (code, ""), options
        assert answer.stderr.startswith(expected), answer.stderr
