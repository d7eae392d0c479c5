"""The choice of the program, and its run from start to end."""

import sys
import types

from _isopod import command_line, ending, renewal
from _isopod.kernel import process

#: The modules that were imported before the program started. They are not cleared at its end.
known_modules = frozenset()
#: The last of them: the program's imports come after it.
last_known = None


def run():
    renewal.renew()
    try:
        program = process.program()
        if program in ("python", "python3"):
            code = command_line.main(sys.argv[0], sys.argv[1:])
        else:
            sys.modules["__main__"] = types.ModuleType("__main__")
            renewal.open_streams(unbuffered=False, ignore_environment=True)
            code = _tool(program).main(sys.argv[1:])
    except BaseException as error:
        code = ending.code_of(error)
    ending.end(code or 0, known_modules, last_known)


def _tool(program):
    if program == "sqlite3":
        from _isopod import sqlite_shell as tool
    else:
        from _isopod import wheels as tool
    return tool
