"""`asyncio` in one thread: a loop without the socket that other threads and signals wake it by."""

import asyncio
import asyncio.selector_events



def _nothing(self, *_):
    pass


def install():
    loop = asyncio.selector_events.BaseSelectorEventLoop
    loop._make_self_pipe = loop._close_self_pipe = loop._write_to_self = _nothing
