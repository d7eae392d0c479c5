"""`signal`: handlers that run when the program next waits, sleeps or sends a signal.

The kernel keeps a caught signal until it is polled. Nothing can interrupt the interpreter between two instructions, so
a handler runs late in a program that only computes. Signals that cannot be caught end the process at once.
"""

import os
import signal
import sys
import time

from _isopod.kernel import Disposition, call, process

#: The longest sleep between two polls for signals.
SLICE = 0.01

handlers = {}
_sleep = time.sleep
_getsignal = signal.getsignal


def deliver():
    """Runs the handlers of the signals that have arrived."""
    if handlers:
        for number in process.pending():
            handler = handlers.get(number)
            if callable(handler):
                handler(number, sys._getframe(1))


def set_handler(number, handler):
    number = signal.Signals(number)
    if handler in (signal.SIG_DFL, signal.SIG_IGN):
        wanted = Disposition.DEFAULT if handler == signal.SIG_DFL else Disposition.IGNORE
    elif callable(handler):
        wanted = Disposition.CATCH
    else:
        raise TypeError("signal handler must be signal.SIG_IGN, signal.SIG_DFL, or a callable object")
    before = get_handler(number)
    call(process.on_signal, int(number), wanted)
    handlers[int(number)] = handler
    return before


def get_handler(number):
    number = int(number)
    return handlers[number] if number in handlers else _getsignal(number)


def sleep(seconds):
    if not handlers:
        return _sleep(seconds)
    end = time.monotonic() + seconds
    _sleep(0 if seconds >= 0 else seconds)
    while (left := end - time.monotonic()) > 0:
        deliver()
        _sleep(min(left, SLICE))
    deliver()


def pause():
    """Waits for a signal that has a handler or ends the process."""
    while True:
        arrived = process.pending()
        for number in arrived:
            handlers[number](number, sys._getframe(1))
        if arrived:
            return
        _sleep(SLICE)


def kill(pid, number):
    call(process.kill, pid, int(number))
    deliver()


def install():
    signal.signal, signal.getsignal, signal.pause = set_handler, get_handler, pause
    signal.raise_signal = lambda number: kill(process.id(), number)
    time.sleep = sleep
    os.kill = kill
