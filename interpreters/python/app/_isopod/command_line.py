"""`python3`: its options, and the five ways to name a program."""

import builtins
import faulthandler
import linecache
import os
import runpy
import site
import sys
import textwrap
import types
import warnings

from _isopod import renewal, wheels

LIBRARY = "/usr/lib/python3.14"
SITE = "/usr/local/lib/python3.14/site-packages"
#: The packages that `isopod python add` installed on the host, read-only.
LAYER = "/usr/lib/python3/site-packages"

USAGE = "usage: {name} [option] ... [-c cmd | -m mod | file | -] [arg] ..."

HELP = (
    USAGE
    + """

Options:
  -c cmd         run the program given as a string; ends the options
  -m mod         run a module of the library as a script; ends the options
  -              read the program from standard input, as without a file
  -B             write no .pyc files (PYTHONDONTWRITEBYTECODE)
  -E             ignore PYTHON* environment variables
  -I             isolate: -E, -P and -s
  -O, -OO        remove assert statements; and doc strings
  -P             put no directory in front of sys.path (PYTHONSAFEPATH)
  -q             accepted; there is no banner to leave out
  -s             leave the user's site directory out of sys.path
  -S             leave all site directories out of sys.path
  -u             write standard output and error without a buffer (PYTHONUNBUFFERED)
  -V, --version  print the version; -VV, more of it
  -W arg         warning control: action:message:category:module:lineno (PYTHONWARNINGS)
  -x             skip the first line of the program
  -X opt         dev, faulthandler, utf8 and int_max_str_digits=N; others are refused
  -h, --help     print this

There is no terminal in the sandbox: -i is refused. There are no threads and no network.
"""
)


class Usage(Exception):
    """An unknown option."""


class Options:
    """The settings of the command line."""

    def __init__(self):
        self.command = self.module = None
        self.rest = []
        self.is_isolated = self.ignore_environment = self.safe_path = False
        self.no_user_site = self.no_site = self.unbuffered = self.no_bytecode = self.skip_first_line = False
        self.optimise = 0
        self.version = 0
        self.help = False
        self.warnings = []
        self.settings = []


SWITCHES = {
    "B": "no_bytecode",
    "E": "ignore_environment",
    "P": "safe_path",
    "S": "no_site",
    "h": "help",
    "?": "help",
    "s": "no_user_site",
    "u": "unbuffered",
    "x": "skip_first_line",
}


def parse(arguments):
    options = Options()
    arguments = list(arguments)
    while arguments and arguments[0].startswith("-") and arguments[0] != "-":
        word = arguments.pop(0)
        if word in ("--help", "--version"):
            setattr(options, word[2:], 1)
            continue
        if word.startswith("--"):
            raise Usage(f"unknown option {word}")
        letters = word[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter in "cmWX":
                if not letters and not arguments:
                    raise Usage(f"Argument expected for the -{letter} option")
                value = letters or arguments.pop(0)
                letters = ""
                if letter in "cm":
                    setattr(options, "command" if letter == "c" else "module", value)
                    options.rest = arguments
                    return options
                (options.warnings if letter == "W" else options.settings).append(value)
            elif letter == "i":
                raise Usage("-i: there is no terminal in this sandbox")
            elif letter == "I":
                options.is_isolated = options.ignore_environment = True
                options.safe_path = options.no_user_site = True
            elif letter == "O":
                options.optimise += 1
            elif letter == "V":
                options.version += 1
            elif letter == "q":
                pass
            elif letter in SWITCHES:
                setattr(options, SWITCHES[letter], True)
            else:
                raise Usage(f"unknown option -{letter}")
    options.rest = arguments
    return options


def main(name, arguments):
    renewal.open_streams(False, False)
    try:
        options = parse(arguments)
        if options.help:
            sys.stdout.write(HELP.format(name=name))
            return 0
        if options.version:
            print("Python", sys.version if options.version > 1 else sys.version.split()[0])
            return 0
        _apply(options)
    except Usage as error:
        print(error, USAGE.format(name=name), f"Try `{name} -h' for more information.", sep="\n", file=sys.stderr)
        return 2
    return _run(name, options)


def _apply(options):
    # A copy, because os.environ encodes a name at each lookup.
    environment = {} if options.ignore_environment else dict(os.environ)
    if environment.get("PYTHONUNBUFFERED"):
        options.unbuffered = True
    if environment.get("PYTHONSAFEPATH"):
        options.safe_path = True
    if environment.get("PYTHONNOUSERSITE"):
        options.no_user_site = True
    if not options.optimise and environment.get("PYTHONOPTIMIZE"):
        level = environment["PYTHONOPTIMIZE"]
        options.optimise = int(level) if level.isdigit() else 1
    sys.dont_write_bytecode = options.no_bytecode or bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    if options.unbuffered or options.ignore_environment:
        renewal.open_streams(options.unbuffered, options.ignore_environment)
    sys._xoptions.clear()
    for setting in options.settings:
        _set(setting)
    limit = environment.get("PYTHONINTMAXSTRDIGITS")
    if limit:
        _set(f"int_max_str_digits={limit}")
    options.optimise = min(options.optimise, 2)
    if options.optimise:
        _optimise(options.optimise)
    sys.flags = _flags(options)
    _search_path(options, environment)
    development = ["default"] if "dev" in sys._xoptions else []
    sys.warnoptions[:] = [*development, *filter(None, environment.get("PYTHONWARNINGS", "").split(",")), *options.warnings]
    if sys.warnoptions:
        warnings._processoptions(sys.warnoptions)


def _set(setting):
    name, _, value = setting.partition("=")
    if name == "utf8" and value in ("", "1"):
        pass
    elif name in ("dev", "faulthandler") and not value:
        # The faults that these report cannot happen here; `dev` also asks for warnings.
        faulthandler.enable()
    elif name == "int_max_str_digits":
        try:
            sys.set_int_max_str_digits(int(value))
        except ValueError:
            raise Usage("-X int_max_str_digits: invalid limit; must be >= 640 or 0 for unlimited.") from None
    else:
        raise Usage(f"-X {setting}: not available in this sandbox")
    sys._xoptions[name] = value or True


def _optimise(level):
    """Compiles everything from now on without assertions. The interpreter's own switch was fixed by the build."""
    from importlib import _bootstrap_external as external

    def source_to_code(self, data, path, *, _optimize=-1):
        return compile(data, path, "exec", dont_inherit=True, optimize=level)

    external.SourceLoader.source_to_code = source_to_code
    sys.implementation.cache_tag = None
    original = builtins.compile

    def compile_optimised(source, filename, mode, flags=0, dont_inherit=False, optimize=-1, **kwargs):
        level_wanted = level if optimize == -1 else optimize
        return original(source, filename, mode, flags, dont_inherit, level_wanted, **kwargs)

    builtins.compile = compile_optimised


def _flags_at_build():
    names = [name for name in dir(sys.flags) if not name.startswith("_") and name not in ("count", "index")]
    return {name: getattr(sys.flags, name) for name in names if not name.startswith("n_")}


#: The interpreter's options at build time.
FLAGS = _flags_at_build()


def _flags(options):
    return types.SimpleNamespace(
        FLAGS,
        dont_write_bytecode=int(sys.dont_write_bytecode),
        no_user_site=int(options.no_user_site),
        no_site=int(options.no_site),
        ignore_environment=int(options.ignore_environment),
        isolated=int(options.is_isolated),
        safe_path=bool(options.safe_path),
        optimize=options.optimise,
        int_max_str_digits=sys.get_int_max_str_digits(),
        hash_randomization=0,
        dev_mode="dev" in sys._xoptions,
        utf8_mode=1,
    )


def user_site():
    home = os.environ.get("HOME")
    return f"{home}/.local/lib/python3.14/site-packages" if home else None


def _search_path(options, environment):
    before = environment.get("PYTHONPATH", "")
    sys.path[:] = [*map(os.path.abspath, before.split(":") if before else []), LIBRARY]
    if not options.no_site:
        for place in (SITE, None if options.no_user_site else user_site(), LAYER):
            if place and os.path.isdir(place):
                site.addsitedir(place)


def _run(name, options):
    main_module = types.ModuleType("__main__")
    main_module.__builtins__ = builtins
    sys.modules["__main__"] = main_module
    if options.command is not None:
        sys.argv[:] = ["-c", *options.rest]
        if not options.safe_path:
            sys.path.insert(0, "")
        source = options.command
        if "\n" in source or source[:1].isspace():
            source = textwrap.dedent(source)
        return _execute(main_module, source + "\n", "<string>", options)
    if options.module is not None:
        sys.argv[:] = ["-m", *options.rest]
        if not options.safe_path:
            sys.path.insert(0, os.getcwd())
        if options.module == "pip":
            # It is a program of the sandbox, and not in the library.
            return wheels.main(options.rest)
        if "." in options.module:
            # runpy warns about a module that is already imported, but it was not the program that imported it.
            sys.modules.pop(options.module, None)
        runpy._run_module_as_main(options.module)
        return 0
    if not options.rest or options.rest[0] == "-":
        sys.argv[:] = options.rest or [""]
        if not options.safe_path:
            sys.path.insert(0, "")
        return _execute(main_module, sys.stdin.buffer.read(), "<stdin>", options)
    return _script(main_module, name, options)


def _script(main_module, name, options):
    path = options.rest[0]
    sys.argv[:] = options.rest
    if os.path.isdir(path) or _is_archive(path):
        sys.path.insert(0, os.path.abspath(path))
        runpy._run_module_as_main("__main__", False)
        return 0
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        where = os.path.join(os.getcwd(), path)
        print(f"{name}: can't open file {where!r}: [Errno {error.errno}] {error.strerror}", file=sys.stderr)
        return 2
    if not options.safe_path:
        sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    from importlib.machinery import SourceFileLoader

    main_module.__file__ = os.path.join(os.getcwd(), path)
    main_module.__cached__ = None
    main_module.__loader__ = SourceFileLoader("__main__", path)
    return _execute(main_module, source, main_module.__file__, options)


def _is_archive(path):
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"PK\3\4"
    except OSError:
        return False


def _execute(main_module, source, filename, options):
    if options.skip_first_line:
        source = source.partition("\n" if isinstance(source, str) else b"\n")[2]
    try:
        code = compile(source, filename, "exec", dont_inherit=True)
    except SyntaxError as error:
        # Nothing has run: the traceback only has frames of this file.
        error.__traceback__ = None
        raise
    if filename in ("<string>", "<stdin>"):
        text = source if isinstance(source, str) else source.decode("utf-8", "replace")
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    exec(code, vars(main_module))
    return 0
