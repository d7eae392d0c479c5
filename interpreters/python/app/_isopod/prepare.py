"""Build time: the work that every process would have to repeat otherwise."""

import gc
import importlib
import os
import sys
import types

#: The library at build time, the directory for the build's output, and the library in a sandbox.
SOURCE, OUTPUT, LIBRARY = "/python", "/0", "/usr/lib/python3.14"

#: Modules that are imported before a process starts. Memory is paged in when it is touched, so a module that a script
#: does not use only costs space in the image.
MODULES = """
abc annotationlib argparse array ast asyncio atexit base64 binascii bisect calendar cmath codecs collections
collections.abc compression.zlib concurrent.futures concurrent.futures.thread configparser contextlib contextvars copy
copyreg csv dataclasses datetime decimal difflib dis email email.message email.mime.text email.parser email.policy
encodings.ascii encodings.cp1252 encodings.idna encodings.latin_1 encodings.utf_16 encodings.utf_8_sig enum errno
fileinput fnmatch fractions functools gc getopt getpass glob graphlib gzip hashlib heapq hmac html html.parser
http.client http.cookies importlib.metadata importlib.resources importlib.util inspect io ipaddress itertools json
json.tool keyword linecache locale logging logging.config logging.handlers marshal math mimetypes numbers opcode operator
optparse os pathlib pickle pkgutil platform posixpath pprint queue quopri random re reprlib runpy sched secrets select
selectors shlex shutil signal site socket socketserver sqlite3 stat statistics string string.templatelib struct
subprocess symtable sysconfig tarfile tempfile textwrap threading time timeit token tokenize tomllib traceback types typing
unicodedata unittest unittest.mock urllib.error urllib.parse urllib.request uuid warnings weakref xml.dom.minidom
xml.etree.ElementTree zipfile zipimport zlib zoneinfo _strptime _pydatetime
_isopod.programs _isopod.sqlite_shell _isopod.wheels
""".split()

#: An upper bound for addresses of the initial memory: twice its size.
HIGHEST = 64 << 20

#: Parts of the library that cannot work here, or that are not needed.
LEFT_OUT = {"__pycache__", "config-3.14-wasm32-wasi", "curses", "ensurepip", "idlelib", "multiprocessing", "pydoc_data",
            "site-packages", "test", "tkinter", "turtle.py", "turtledemo", "venv"}  # fmt: skip


programs = None


def interpreter():
    global programs
    from _isopod import absent, accounts

    _set_constants()
    # Modules look for these when they are imported.
    accounts.install()
    absent.install_finder()
    for module in MODULES:
        importlib.import_module(module)
    _write_library()
    from _isopod import descriptors, digests, ending, loop, processes, programs, signals, system

    # There is no kernel at build time: from here on no file is accessed.
    for part in (absent, system, descriptors, processes, signals, loop, digests):
        part.install()
    ending.prepare()
    _set_build_variables()
    _relocate()
    sys.path[:] = [LIBRARY]
    sys.path_importer_cache.clear()
    # A process has its own path entries, and its additions come last.
    del sys.modules["__main__"]
    programs.known_modules = frozenset(sys.modules)
    programs.last_known = next(reversed(sys.modules))
    gc.collect()
    # The list is kept to the end: the memory of a listed object must not be reused.
    programs.immortal = _list_objects()
    # The garbage collector of a process then examines only the objects of that process.
    gc.freeze()


def _set_constants():
    sys.prefix = sys.exec_prefix = sys.base_prefix = sys.base_exec_prefix = "/usr"
    sys._home = None
    sys.executable = sys._base_executable = "/usr/bin/python3"
    sys.orig_argv[:] = []
    sys._stdlib_dir = LIBRARY


def _set_build_variables():
    """Removes traces of the build machine."""
    import sysconfig

    sysconfig._PROJECT_BASE = "/usr/bin"
    variables = sysconfig.get_config_vars()
    # The build tool leaves half a command line there, which cannot be parsed.
    variables["CONFIG_ARGS"] = "'--host=wasm32-unknown-wasip2'"
    for name, value in variables.items():
        if isinstance(value, str) and value.startswith(SOURCE):
            variables[name] = "/usr" + value.removeprefix(SOURCE)
    del os.environ["PYTHONHOME"], os.environ["PYTHONPATH"], os.environ["PYTHONUNBUFFERED"]


def _write_library():
    """Writes the library as one file, and an index with a line `offset length path` for each of its files."""
    lines, offset = [], 0
    with open(f"{OUTPUT}/library.bin", "wb") as files:
        for directory, directories, names in os.walk(SOURCE):
            directories[:] = sorted(set(directories) - LEFT_OUT)
            for name in sorted(set(names) - LEFT_OUT):
                with open(f"{directory}/{name}", "rb") as file:
                    content = file.read()
                files.write(content)
                path = f"{directory}/{name}".removeprefix(f"{SOURCE}/")
                lines.append(f"{offset} {len(content)} {path}\n")
                offset += len(content)
    with open(f"{OUTPUT}/library.txt", "w") as index:
        index.writelines(lines)


def _list_objects():
    """Writes the addresses of all objects with those of their types, and returns them in parts.

    The build makes the objects immortal (`precompile/src/immortal.rs`). Memory that is freed here stays in the image,
    so little is used: a bit map of the objects seen, which is left as zeros, and parts that do not grow.
    """
    seen = bytearray(HIGHEST // 64)
    todo = gc.get_objects()
    parts, part, room = [], [], 0
    with open(f"{OUTPUT}/objects.bin", "wb") as file:
        while todo:
            one = todo.pop()
            # Objects begin at multiples of eight.
            place, bit = divmod(id(one) >> 3, 8)
            if seen[place] >> bit & 1:
                continue
            seen[place] |= 1 << bit
            if not room:
                part, room = [None] * 1000, 1000
                parts.append(part)
            room -= 1
            part[room] = one
            file.write(id(one).to_bytes(4, "little") + id(type(one)).to_bytes(4, "little"))
            todo += gc.get_referents(one)
            if isinstance(one, types.CodeType):
                # The garbage collector does not know its references.
                todo += (one.co_consts, one.co_names, *one.co_varnames, *one.co_cellvars, *one.co_freevars)
                todo += (one.co_filename, one.co_name, one.co_qualname, one.co_linetable, one.co_exceptiontable)
    seen[:] = bytes(len(seen))
    return parts


def _relocate():
    """Sets the file names of modules and code to the library of a sandbox, where tracebacks and `inspect` look."""

    def moved(path):
        for old in (f"{SOURCE}/lib/python3.14/", f"{SOURCE}/"):
            if isinstance(path, str) and path.startswith(old):
                return f"{LIBRARY}/{path.removeprefix(old)}"
        return path

    def moved_code(code):
        consts = tuple(moved_code(const) if isinstance(const, types.CodeType) else const for const in code.co_consts)
        return code.replace(co_filename=moved(code.co_filename), co_consts=consts)

    for module in list(sys.modules.values()):
        names = vars(module)
        for name in ("__file__", "__cached__"):
            if name in names:
                names[name] = moved(names[name])
        if "__path__" in names:
            names["__path__"] = [moved(path) for path in names["__path__"]]
        spec = names.get("__spec__")
        if spec is not None:
            spec.origin, spec.cached = moved(spec.origin), None
            if spec.submodule_search_locations is not None:
                spec.submodule_search_locations = names.get("__path__")
            if hasattr(spec.loader, "path"):
                spec.loader.path = moved(spec.loader.path)
    for function in gc.get_objects():
        if isinstance(function, types.FunctionType) and function.__code__.co_filename.startswith(f"{SOURCE}/"):
            function.__code__ = moved_code(function.__code__)
