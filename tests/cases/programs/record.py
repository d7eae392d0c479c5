#!/usr/bin/env python3
"""Records what the real GNU tools answer to the cases in this directory.

    record.py FILE.toml...      fills in `stdout` and `code` of every case, or says what changed

A case is a table `[[case]]` with `name`, `script` (a shell command line), and optionally `stdin` and `files`
(path = content). The script runs under `bash -c` in an empty directory with LC_ALL=C.UTF-8, TZ=UTC and umask 022.
"""

import os
import subprocess
import sys
import tempfile
import tomllib

ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/user"}


def run(case):
    with tempfile.TemporaryDirectory() as directory:
        for path, content in case.get("files", {}).items():
            full = os.path.join(directory, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", newline="") as file:
                file.write(content)
        done = subprocess.run(["bash", "-c", case["script"]], cwd=directory, env=ENVIRONMENT, umask=0o022,
                              input=case.get("stdin", "").encode(), capture_output=True, timeout=60)
        return done.stdout.decode(), done.returncode


def quoted(text):
    if "'" not in text and "\n" not in text and text.isprintable():
        return f"'{text}'"
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(escapes.get(c) or (c if c.isprintable() else f"\\u{ord(c):04x}") for c in text) + '"'


def block(text):
    """Several lines stay lines where TOML lets them."""
    plain = all(c.isprintable() or c in "\n\t" for c in text)
    if text.count("\n") > 1 and plain and "'''" not in text and not text.endswith("'"):
        return f"'''\n{text}'''"
    return quoted(text)


def write(path, comment, cases):
    with open(path, "w") as file:
        file.write(comment)
        for case in cases:
            file.write("\n[[case]]\n")
            file.write(f"name = {quoted(case['name'])}\nscript = {block(case['script'])}\n")
            if "stdin" in case:
                file.write(f"stdin = {block(case['stdin'])}\n")
            if "files" in case:
                pairs = ", ".join(f"{quoted(name)} = {quoted(content)}" for name, content in case["files"].items())
                file.write(f"files = {{ {pairs} }}\n")
            file.write(f"stdout = {block(case['stdout'])}\ncode = {case['code']}\n")


def main():
    for path in sys.argv[1:]:
        with open(path) as file:
            text = file.read()
        comment = "".join(line + "\n" for line in text.splitlines() if line.startswith("#"))
        cases = tomllib.loads(text).get("case", [])
        for case in cases:
            stdout, code = run(case)
            old = case.get("stdout"), case.get("code")
            if old != (None, None) and old != (stdout, code):
                print(f"{path}: {case['name']}: was {old}, is {(stdout, code)}")
            case["stdout"], case["code"] = stdout, code
        write(path, comment, cases)


if __name__ == "__main__":
    main()
