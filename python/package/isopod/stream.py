"""Output as it arrives."""

from __future__ import annotations

import codecs
import inspect
from collections.abc import Callable, Iterator
from types import TracebackType

from isopod import _isopod
from isopod._isopod import Chunk, Output

Listener = Callable[[str], object]
"""A function that is called with text."""


class Stream:
    """A running command: iterate over its output, then ask for its result.

    The command makes progress while its output is read; its timeout runs in any case. Closing or dropping the stream
    ends the command.
    """

    def __init__(self, native: _isopod.Stream) -> None:
        self._native = native

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Chunk:
        chunk = self._native.next().wait()
        if chunk is None:
            raise StopIteration
        return chunk

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> Chunk:
        chunk = await self._native.next()
        if chunk is None:
            raise StopAsyncIteration
        return chunk

    def result(self) -> Output:
        """Wait for the end and return the result, which contains all output. Can be called once."""
        return self._native.finish().wait()

    async def aresult(self) -> Output:
        """The async twin of ``result``."""
        return await self._native.finish()

    def close(self) -> None:
        """End the command."""
        self._native.close().wait()

    async def aclose(self) -> None:
        """The async twin of ``close``."""
        await self._native.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Stream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def follow(stream: Stream, on_stdout: Listener | None, on_stderr: Listener | None) -> Output:
    """Call the listeners until the end of the output."""
    texts = Texts(on_stdout, on_stderr)
    with stream:
        for chunk in stream:
            for listener, text in texts.of(chunk):
                listener(text)
        for listener, text in texts.rest():
            listener(text)
        return stream.result()


async def afollow(stream: Stream, on_stdout: Listener | None, on_stderr: Listener | None) -> Output:
    """The async twin of ``follow``; a listener may return something to await."""
    texts = Texts(on_stdout, on_stderr)

    async def tell(listener: Listener, text: str) -> None:
        answer = listener(text)
        if inspect.isawaitable(answer):
            await answer

    async with stream:
        async for chunk in stream:
            for listener, text in texts.of(chunk):
                await tell(listener, text)
        for listener, text in texts.rest():
            await tell(listener, text)
        return await stream.aresult()


class Texts:
    """Decodes pieces that may end within a character."""

    def __init__(self, on_stdout: Listener | None, on_stderr: Listener | None) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")
        listeners = {"stdout": on_stdout, "stderr": on_stderr}
        self._listeners = {name: (listener, decoder("replace")) for name, listener in listeners.items() if listener}

    def of(self, chunk: Chunk) -> Iterator[tuple[Listener, str]]:
        """Yield the listeners of a piece, each with its text."""
        if chunk.channel in self._listeners:
            listener, decoder = self._listeners[chunk.channel]
            if text := decoder.decode(chunk.data):
                yield listener, text

    def rest(self) -> Iterator[tuple[Listener, str]]:
        """Yield the incomplete characters at the end of the output."""
        for listener, decoder in self._listeners.values():
            if text := decoder.decode(b"", final=True):
                yield listener, text
