"""The end of a process: the work of CPython between the last statement and the exit code."""

import _io
import atexit
import gc
import logging
import sys
import threading
import types

from _isopod.kernel import process

#: CPython's exit code when its output could not be written at the end.
FLUSH_FAILED = 120
INTERRUPTED = 130

#: The classes that buffer output. All classes of files are based on them.
BUFFERS = (_io.TextIOWrapper, _io.BufferedWriter, _io.BufferedRandom)


def code_of(error):
    """Prints an uncaught exception, and returns the exit code."""
    if isinstance(error, SystemExit):
        code = error.code
        if code is None:
            return 0
        if isinstance(code, int):
            return code & 0xFF
        print(code, file=sys.stderr)
        return 1
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_globals.get("__name__", "").startswith("_isopod"):
        traceback = traceback.tb_next
    error.__traceback__ = traceback
    try:
        sys.excepthook(type(error), error, traceback)
    except BaseException as second:
        if isinstance(second, SystemExit):
            return code_of(second)
        print("Error in sys.excepthook:", file=sys.stderr)
        sys.__excepthook__(type(second), second, second.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(type(error), error, traceback)
    return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1


def end(code, known_modules, last_known):
    """Ends the process as CPython does: runs exit handlers and finalisers, and flushes buffers."""
    _run_handlers()
    flushed = _flush(sys.stdout)
    _flush(sys.stderr)
    _finalise(known_modules, last_known)
    # Finalisers may have printed.
    flushed = _flush(sys.stdout, quiet=not flushed) and flushed
    process.exit(code if flushed or code else FLUSH_FAILED)


#: The number of handlers before a program starts: those of threads, which do not exist here, and of logging.
known_handlers = 0, 0


def prepare():
    """Build time: removes the exit handlers of modules. They are run only if they have something to do."""
    global known_handlers
    # It was registered first, so it runs last: `_run_handlers` does it.
    atexit.unregister(logging.shutdown)
    known_handlers = len(threading._threading_atexits), len(logging._handlerList)


def _run_handlers():
    threads, logs = known_handlers
    if len(threading._threading_atexits) != threads:
        threading._shutdown()
    if atexit._ncallbacks():
        atexit._run_exitfuncs()
    if len(logging._handlerList) != logs:
        logging.shutdown()


def _finalise(known_modules, last_known):
    """Clears the program's own modules, so that the finaliser of an unclosed file flushes it."""
    ours = []
    # From the end, where they are: reading the other names would touch memory that is not used otherwise.
    for name in reversed(sys.modules):
        if name == last_known:
            break
        if name not in known_modules:
            ours.append(sys.modules[name])
    ours.reverse()
    for module in ours:
        if isinstance(module, types.ModuleType):
            names = vars(module)
            # As CPython does it: private names first, __builtins__ never.
            for name in [name for name in names if name[:1] == "_" and name[1:2] != "_"]:
                names[name] = None
            for name in [name for name in names if name != "__builtins__"]:
                names[name] = None
    # The rest is in cycles, where a file may be closed before its buffer. Flushing buffers first loses nothing.
    for one in gc.get_objects():
        if issubclass(type(one), BUFFERS):
            try:
                one.flush()
            except Exception:
                # It is closed, incomplete, or the disk is full. As with a finaliser, the error cannot be reported.
                pass
    # The initial objects are not examined: they are immortal.
    gc.collect()


def _flush(stream, quiet=False):
    try:
        if stream is not None and not stream.closed:
            stream.flush()
    except BaseException as error:
        if not quiet:
            print(f"Exception ignored while flushing sys.stdout:\n{type(error).__name__}: {error}", file=sys.stderr)
        return False
    return True
