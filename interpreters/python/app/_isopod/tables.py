"""The output formats of `sqlite3`."""

import html
import json
import math
import re
import unicodedata

MODES = ("list", "csv", "column", "line", "json", "tabs", "quote", "insert", "markdown", "table", "box", "html")

BORDERS = {
    "table": (("+", "+", "+"), "-", "|", ("+", "+", "+"), ("+", "+", "+")),
    "markdown": (None, "-", "|", ("|", "|", "|"), None),
    "box": (("┌", "┬", "┐"), "─", "│", ("├", "┼", "┤"), ("└", "┴", "┘")),
}


def quoted_name(name):
    return '"' + name.replace('"', '""') + '"'


def number(value, digits=15):
    """Formats a real number as SQLite does: with at most this many digits, and always with a point."""
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    text = f"{value:.{digits}g}"
    mantissa, e, exponent = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return mantissa + e + exponent


def text(value, null=""):
    if value is None:
        return null
    if isinstance(value, float):
        return number(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return str(value)


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return number(value, 17) if float(number(value)) != value else number(value)
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value)


def width(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line if not unicodedata.combining(c))


def _pad(line, size, centred=False):
    room = size - width(line)
    left = room // 2 if centred else 0
    return " " * left + line + " " * (room - left)


class Format:
    """An output mode and its settings."""

    def __init__(self):
        self.mode, self.headers, self.separator, self.null, self.table = "list", None, "|", "", "table"
        self.end = "\n"

    def choose(self, mode, csv_end="\n"):
        """Sets the mode. The command `.mode csv` ends lines as the CSV standard says, the option -csv does not."""
        self.mode = mode
        self.end = csv_end if mode == "csv" else "\n"
        self.separator = {"tabs": "\t", "csv": ","}.get(mode, "|")

    def write(self, output, names, rows):
        """Prints all rows. A mode that aligns columns has to see all of them first."""
        getattr(self, f"_{self.mode}")(output, names, rows)

    def _plain(self, output, names, rows, cell, separator, name=str):
        for count, row in enumerate(rows):
            # Without rows there are no headers either.
            if self.headers and count == 0:
                output.write(separator.join(map(name, names)) + self.end)
            output.write(separator.join(map(cell, row)) + self.end)

    def _list(self, output, names, rows):
        self._plain(output, names, rows, lambda value: text(value, self.null), self.separator)

    _tabs = _list

    def _csv(self, output, names, rows):
        def cell(value):
            field = text(value, self.null)
            if re.search(r"[\x00-\x20\"'\x7f-\uffff]", field) or self.separator in field:
                return '"' + field.replace('"', '""') + '"'
            return field

        self._plain(output, names, rows, cell, self.separator, name=cell)

    def _quote(self, output, names, rows):
        self._plain(output, names, rows, literal, ",", name=literal)

    def _insert(self, output, names, rows):
        table = self.table if re.fullmatch(r"[A-Za-z_]\w*", self.table) and self.table != "table" else None
        head = f"INSERT INTO {table or quoted_name(self.table)}"
        head += f"({','.join(names)})" if self.headers else ""
        for row in rows:
            output.write(f"{head} VALUES({','.join(map(literal, row))});\n")

    def _line(self, output, names, rows):
        size = max([5, *map(width, names)])
        for count, row in enumerate(rows):
            if count:
                output.write("\n")
            for name, value in zip(names, row):
                output.write(f"{name.rjust(size)} = {text(value, self.null)}\n")

    def _json(self, output, names, rows):
        count = 0
        for count, row in enumerate(rows, 1):
            fields = (f"{json.dumps(name, ensure_ascii=False)}:{self._json_value(v)}" for name, v in zip(names, row))
            output.write(("[" if count == 1 else ",\n") + "{" + ",".join(fields) + "}")
        if count:
            output.write("]\n")

    @staticmethod
    def _json_value(value):
        if isinstance(value, float):
            return literal(value)
        if isinstance(value, bytes):
            value = value.decode("latin-1")
        return json.dumps(value, ensure_ascii=False)

    def _html(self, output, names, rows):
        def line(tag, cells):
            output.write("<TR>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>\n" for cell in cells) + "</TR>\n")

        if self.headers:
            line("TH", names)
        for row in rows:
            line("TD", (text(value, self.null) for value in row))

    def _column(self, output, names, rows):
        cells = [[text(value, self.null) for value in row] for row in rows]
        if not cells:
            return
        headers = self.headers
        sizes = self._sizes(names if headers else None, cells)
        lines = [names, ["-" * size for size in sizes]] if headers else []
        for line in lines + cells:
            output.write("  ".join(_pad(cell, size) for cell, size in zip(line, sizes)) + "\n")

    @staticmethod
    def _sizes(names, cells):
        columns = zip(*([names] if names else []), *cells)
        return [max(map(width, column)) for column in columns]

    def _bordered(self, output, names, rows):
        cells = [[text(value, self.null) for value in row] for row in rows]
        if not cells:
            return
        sizes = self._sizes(names, cells)
        top, dash, side, middle, bottom = BORDERS[self.mode]

        def rule(corners):
            if corners:
                left, between, right = corners
                output.write(left + between.join(dash * (size + 2) for size in sizes) + right + "\n")

        def line(cells, centred):
            inner = f" {side} ".join(_pad(cell, size, centred) for cell, size in zip(cells, sizes))
            output.write(f"{side} {inner} {side}\n")

        rule(top)
        line(names, True)
        rule(middle)
        for row in cells:
            line(row, False)
        rule(bottom)

    _markdown = _table = _box = _bordered
