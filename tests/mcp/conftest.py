"""A server, and the official Python client connected to it, over each transport."""

import os
import pathlib
import re
import subprocess
from contextlib import asynccontextmanager, contextmanager

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

ROOT = pathlib.Path(__file__).parents[2]
ISOPOD = os.environ.get("ISOPOD", str(ROOT / "target/debug/isopod"))


@pytest.fixture
def anyio_backend():
    return "asyncio"


@contextmanager
def http_server(*options):
    """Starts `isopod mcp --http` on a free port. Yields its address and its process."""
    command = [ISOPOD, "mcp", "--http", "127.0.0.1:0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stderr.readline()
            address = re.search(r"serving (http://\S+)", line)
            assert address, line
            yield address[1], process
        finally:
            process.terminate()
            process.wait(10)


@asynccontextmanager
async def connected(transport, *options):
    """Yields a client after the handshake."""
    if transport == "http":
        with http_server(*options) as (url, _):
            async with Client(url) as client:
                yield client
    else:
        server = StdioServerParameters(command=ISOPOD, args=["mcp", *options])
        async with Client(server, mode="auto" if transport == "stdio" else "legacy") as client:
            yield client


@asynccontextmanager
async def with_key(url, key):
    """Yields a client that sends a key."""
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http_client:
        async with Client(streamable_http_client(url, http_client=http_client)) as client:
            yield client


@pytest.fixture(params=["stdio", "stdio-legacy", "http"])
async def client(request):
    async with connected(request.param) as client:
        yield client


def text(result):
    """Returns the text of an answer, as a model sees it."""
    assert len(result.content) == 1
    return result.content[0].text


async def facts(client, name, /, **arguments):
    """Returns the structured content of a call, which must not be refused."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, text(result)
    return result.structured_content


async def refusal(client, name, /, **arguments):
    """Returns the one line of a call that was refused."""
    result = await client.call_tool(name, arguments)
    assert result.is_error and "\n" not in text(result), text(result)
    return text(result)
