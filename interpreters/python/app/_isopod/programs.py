"""Which program a process is, and its life from start to end."""

import sys

from _isopod import command_line, ending, renewal
from _isopod.kernel import process

#: The modules that were there before the program started: they outlive it.
known_modules = frozenset()


def run():
    renewal.renew()
    try:
        program = process.program()
        if program in ("python", "python3"):
            code = command_line.main(sys.argv[0], sys.argv[1:])
        else:
            renewal.open_streams(unbuffered=False, ignore_environment=True)
            code = _tool(program).main(sys.argv[1:])
    except BaseException as error:
        code = ending.code_of(error)
    ending.end(code or 0, known_modules)


def _tool(program):
    if program == "sqlite3":
        from _isopod import sqlite_shell as tool
    else:
        from _isopod import wheels as tool
    return tool
