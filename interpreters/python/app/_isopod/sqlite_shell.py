"""`sqlite3`: a shell for SQLite databases, on Python's module."""

import csv
import shlex
import sqlite3
import sys

from _isopod import tables

HELP = """usage: sqlite3 [OPTIONS] [FILE [SQL | .COMMAND]...]
Without SQL, statements and commands are read from standard input. Without FILE, the database is in memory.

Options, with one hyphen or two:
  -bail              stop at the first error
  -batch             accepted: there is no terminal
  -cmd COMMAND       run this before anything else
  -csv -json -line -list -column -markdown -table -box -tabs -quote -html
                     how rows are printed; list is the default
  -header -noheader  print the names of columns, or not
  -help              print this
  -nullvalue TEXT    how NULL is printed
  -readonly          open the database for reading only
  -separator TEXT    what stands between columns in the mode list
  -version           print SQLite's version

Commands:
  .bail on|off  .databases  .dump [TABLE]  .echo on|off  .exit [CODE]  .headers on|off  .help
  .import [--csv] [--skip N] FILE TABLE  .indexes [TABLE]  .mode MODE  .nullvalue TEXT  .once FILE  .open FILE
  .output [FILE]  .print TEXT  .quit  .read FILE  .schema [TABLE]  .separator TEXT  .tables [PATTERN]
"""


class Refused(Exception):
    """An error of the command line or of a command."""


class Stop(Exception):
    """Ends the run with this exit code."""

    def __init__(self, code):
        self.code = code


class Shell:
    """A database and the format of its rows."""

    def __init__(self):
        self.format = tables.Format()
        self.is_bailing = self.is_read_only = self.is_echoing = False
        self.output = sys.stdout
        self.is_once = False
        self.errors = 0
        #: SQLite's code of the last error.
        self.code = 1
        self.connection = None

    def open(self, path):
        if self.is_read_only:
            self.connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, autocommit=True)
        else:
            self.connection = sqlite3.connect(path, autocommit=True)
        self.path = path
        # Text that is not UTF-8 is printed unchanged.
        self.connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")

    def failed(self, message):
        sys.stdout.flush()
        print(message, file=sys.stderr)
        self.errors += 1
        if self.is_bailing:
            raise Stop(1)

    def run(self, text, line=None):
        """Runs one statement or command. An error is printed, and the run continues."""
        if self.is_echoing:
            print(text, file=self.output)
        try:
            if text.startswith("."):
                command(self, text)
            else:
                self.statement(text)
        except sqlite3.Error as error:
            self.code = getattr(error, "sqlite_errorcode", 1) & 0xFF or 1
            where = "in prepare, " if line is None else ""
            if isinstance(error, sqlite3.IntegrityError):
                where = "stepping, " if line is None else ""
                error = f"{error} ({self.code})"
            self.failed(f"Error: {where}{error}" if line is None else f"Error near line {line}: {error}")
        except Refused as error:
            self.failed(f"Error: {error}")
        except OSError as error:
            self.failed(f'Error: cannot open "{error.filename}"')

    def statement(self, text):
        cursor = self.connection.execute(text)
        if cursor.description is not None:
            names = [column[0] for column in cursor.description]
            self.format.write(self.output, names, cursor)
        self.finish_once()

    def finish_once(self):
        if self.is_once:
            self.redirect(None)

    def redirect(self, path):
        if self.output is not sys.stdout:
            self.output.close()
        self.is_once = False
        self.output = open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") if path else sys.stdout

    def read(self, lines):
        """Runs statements, which may span lines, and commands, which are a line each."""
        pending, start = "", 0
        for number, line in enumerate(lines, 1):
            if not pending.strip():
                if line.startswith("."):
                    self.run(line.rstrip("\n"), number)
                    continue
                pending, start = "", number
            pending += line
            for one in self._complete(pending):
                pending = pending[len(one) :]
                if one.strip():
                    self.run(one.strip(), start)
        if pending.strip() and not _is_comment(pending):
            self.run(pending.strip(), start)

    @staticmethod
    def _complete(text):
        """Returns the complete statements at the start of a text."""
        start = at = 0
        while (at := text.find(";", at) + 1) > 0:
            if sqlite3.complete_statement(text[start:at]):
                yield text[start:at]
                start = at

    def sql(self, text):
        """Runs an argument: a command, or statements of which the last may lack its semicolon."""
        if text.startswith("."):
            return self.run(text)
        before = self.errors
        done = 0
        for one in self._complete(text):
            done += len(one)
            if one.strip(" \t\n;"):
                self.run(one.strip())
            if self.errors > before:
                return None
        if text[done:].strip() and not _is_comment(text[done:]):
            self.run(text[done:].strip())
        return None


def _is_comment(text):
    return all(not line.strip() or line.strip().startswith("--") for line in text.splitlines())


def command(shell, text):
    try:
        words = shlex.split(text[1:], posix=True)
    except ValueError as error:
        raise Refused(f"{text}: {error}") from None
    name, arguments = words[0] if words else "", words[1:]
    matching = [known for known in COMMANDS if known == name] or [k for k in COMMANDS if name and k.startswith(name)]
    if not matching:
        raise Refused(f'unknown command or invalid arguments:  "{name}". Enter ".help" for help')
    COMMANDS[matching[0]](shell, *_checked(matching[0], arguments))


def _checked(name, arguments):
    least, most = ARGUMENTS.get(name, (0, 1))
    if not least <= len(arguments) <= most:
        raise Refused(f'unknown command or invalid arguments:  "{name}". Enter ".help" for help')
    return arguments


def _switch(word):
    if word.lower() in ("on", "yes", "1", "true"):
        return True
    if word.lower() in ("off", "no", "0", "false"):
        return False
    raise Refused(f'not a boolean value: "{word}"')


def _names(shell, kinds, pattern=None):
    marks = ",".join("?" * len(kinds))
    rows = shell.connection.execute(
        f"select name from sqlite_schema where type in ({marks}) and name not like 'sqlite\\_%' escape '\\'"
        " and name like ? order by 1",
        (*kinds, pattern or "%"),
    )
    return [name for (name,) in rows]


def _tables(shell, pattern=None):
    names = _names(shell, ("table", "view"), pattern)
    if names:
        width = max(map(len, names))
        columns = max(1, 80 // (width + 2))
        rows = -(-len(names) // columns)
        for row in range(rows):
            line = "  ".join(name.ljust(width) for name in names[row::rows])
            print(line, file=shell.output)


def _indexes(shell, table=None):
    rows = shell.connection.execute(
        "select name from sqlite_schema where type = 'index' and tbl_name like ? order by 1", (table or "%",)
    )
    for (name,) in rows:
        print(name, file=shell.output)


def _schema(shell, table=None):
    rows = shell.connection.execute(
        "select type, name, sql from sqlite_schema where sql is not null and tbl_name like ?"
        " and name not like 'sqlite\\_%' escape '\\' order by rowid",
        (table or "%",),
    )
    for kind, name, sql in rows.fetchall():
        note = ""
        if kind == "view":
            columns = shell.connection.execute(f"pragma table_info({tables.quoted_name(name)})")
            note = f"\n/* {name}({','.join(row[1] for row in columns)}) */"
        if sql.startswith(('CREATE TABLE "', "CREATE TABLE '")):
            sql = f"CREATE TABLE IF NOT EXISTS {sql.removeprefix('CREATE TABLE ')}"
        print(f"{sql}{note};", file=shell.output)


def _dump(shell, table=None):
    print("PRAGMA foreign_keys=OFF;", file=shell.output)
    for line in shell.connection.iterdump(filter=table):
        print(line, file=shell.output)


def _databases(shell):
    for _, name, path in shell.connection.execute("pragma database_list"):
        mode = "r/o" if shell.is_read_only else "r/w"
        print(f'{name}: {path or chr(34) * 2} {mode}', file=shell.output)


def _import(shell, *arguments):
    words, separator, skip = list(arguments), None, 0
    while words and words[0].startswith("-"):
        option = words.pop(0).lstrip("-")
        if option == "csv":
            separator = ","
        elif option == "skip" and words and words[0].isdigit():
            skip = int(words.pop(0))
        else:
            raise Refused(f"unknown option of .import: {option}")
    if len(words) != 2:
        raise Refused("usage: .import [--csv] [--skip N] FILE TABLE")
    path, table = words
    # From here on lines end with a newline alone.
    shell.format.end = "\n"
    separator = separator or ("," if shell.format.mode == "csv" else shell.format.separator)
    if len(separator) != 1:
        raise Refused("a separator of more than one character cannot be imported")
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter=separator)
        for _ in range(skip):
            next(rows, None)
        name = tables.quoted_name(table)
        if not shell.connection.execute("select 1 from sqlite_schema where name = ?", (table,)).fetchone():
            header = next(rows, None)
            if header is None:
                return
            columns = ", ".join(f"{tables.quoted_name(column)} TEXT" for column in header)
            shell.connection.execute(f"CREATE TABLE {name}(\n{columns})")
        width = len(shell.connection.execute(f"select * from {name} limit 0").description)
        fill = ",".join("?" * width)
        shell.connection.execute("begin")
        for row in rows:
            if row:
                row = (row + [None] * width)[:width]
                shell.connection.execute(f"insert into {name} values ({fill})", row)
        shell.connection.execute("commit")


def _mode(shell, mode, table=None):
    known = [name for name in tables.MODES if name == mode] or [m for m in tables.MODES if m.startswith(mode)]
    if not known:
        raise Refused(f"mode should be one of: {' '.join(tables.MODES)}")
    shell.format.choose(known[0], csv_end="\r\n")
    if known[0] == "column" and shell.format.headers is None:
        shell.format.headers = True
    if table:
        shell.format.table = table


def _exit(shell, code="0"):
    raise Stop(int(code) & 0xFF if code.isdigit() else 1)


def _once(shell, path):
    shell.redirect(path)
    shell.is_once = True


def _read(shell, path):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        shell.read(file)


COMMANDS = {
    "bail": lambda shell, word: setattr(shell, "is_bailing", _switch(word)),
    "databases": _databases,
    "dump": _dump,
    "echo": lambda shell, word: setattr(shell, "is_echoing", _switch(word)),
    "exit": _exit,
    "headers": lambda shell, word: setattr(shell.format, "headers", _switch(word)),
    "help": lambda shell: shell.output.write(HELP.partition("Commands:\n")[2]),
    "import": _import,
    "indexes": _indexes,
    "indices": _indexes,
    "mode": _mode,
    "nullvalue": lambda shell, text: setattr(shell.format, "null", text),
    "once": _once,
    "open": lambda shell, path=":memory:": shell.open(path),
    "output": lambda shell, path=None: shell.redirect(None if path in (None, "stdout") else path),
    "print": lambda shell, *words: print(*words, file=shell.output),
    "quit": _exit,
    "read": _read,
    "schema": _schema,
    "separator": lambda shell, text: setattr(shell.format, "separator", text.encode().decode("unicode_escape")),
    "tables": _tables,
}

#: The number of arguments of a command, if it is not none or one.
ARGUMENTS = {
    "bail": (1, 1),
    "databases": (0, 0),
    "echo": (1, 1),
    "headers": (1, 1),
    "help": (0, 0),
    "import": (2, 6),
    "mode": (1, 2),
    "nullvalue": (1, 1),
    "once": (1, 1),
    "print": (0, 99),
    "read": (1, 1),
    "separator": (1, 1),
}


def main(arguments):
    shell, first, operands, words = Shell(), [], [], list(arguments)
    while words:
        word = words.pop(0)
        option = word.lstrip("-")
        if len(operands) > 1 or not word.startswith("-") or not option:
            # Options may follow the file, but not the statements.
            operands.append(word)
        elif option in tables.MODES:
            shell.format.choose(option)
        elif option in ("header", "noheader"):
            shell.format.headers = option == "header"
        elif option in ("cmd", "separator", "nullvalue"):
            if not words:
                print(f"sqlite3: Error: missing argument to {word}", file=sys.stderr)
                return 1
            value = words.pop(0)
            if option == "cmd":
                first.append(value)
            else:
                COMMANDS[option](shell, value)
        elif option == "bail":
            shell.is_bailing = True
        elif option == "readonly":
            shell.is_read_only = True
        elif option == "batch":
            pass
        elif option == "help":
            sys.stdout.write(HELP)
            return 0
        elif option == "version":
            print(sqlite3.sqlite_version)
            return 0
        else:
            print(f"sqlite3: Error: unknown option: {word}\nUse -help for a list of options.", file=sys.stderr)
            return 1
    return _run(shell, operands[0] if operands else None, first, operands[1:])


def _run(shell, file, first, words):
    try:
        shell.open(file or ":memory:")
        for one in first:
            shell.sql(one)
        for one in words:
            shell.sql(one)
            if shell.errors:
                return shell.code
        if not words:
            sys.stdin.reconfigure(errors="surrogateescape")
            shell.read(sys.stdin)
    except sqlite3.OperationalError as error:
        print(f'Error: unable to open database "{file}": {error}', file=sys.stderr)
        return 1
    except Stop as stop:
        return stop.code
    finally:
        shell.redirect(None)
    return 1 if shell.errors else 0
