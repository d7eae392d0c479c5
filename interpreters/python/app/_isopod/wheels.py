"""`pip` without a network: it installs wheels that are files in the sandbox and have no native code."""

import base64
import configparser
import csv
import hashlib
import importlib.metadata
import io
import os
import posixpath
import re
import shutil
import sys
import zipfile

from _isopod import markers

SITE = "/usr/local/lib/python3.14/site-packages"
SCRIPTS = "/usr/local/bin"
LAYER = "/usr/lib/python3/site-packages"

HELP = """usage: pip COMMAND [OPTIONS]

Installs Python packages from wheel files (.whl) that hold no native code. There is no network in the sandbox.

Commands:
  install [--no-deps] [--force-reinstall] [-U] [-q] [-t DIR] FILE.whl...
                   install wheels, which may need each other; -t installs into DIR, without scripts
  uninstall [-y] NAME...
                   remove packages
  list             print what is installed
  freeze           print what is installed, as requirements
  show NAME...     print what is known of a package
  help, --help     print this
  --version        print the version
"""


class Refused(Exception):
    """A refusal, with its reason."""


class Wheel:
    """A wheel file, checked."""

    def __init__(self, path):
        self.path = path
        try:
            self.archive = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise Refused(f"no such file: {path}") from None
        except (OSError, zipfile.BadZipFile) as error:
            raise Refused(f"{path} is not a wheel: {error}") from None
        names = self.archive.namelist()
        records = [name for name in names if re.fullmatch(r"[^/]+\.dist-info/RECORD", name)]
        if len(records) != 1:
            raise Refused(f"{path} is not a wheel: it has no RECORD")
        self.info = posixpath.dirname(records[0])
        for name in names:
            if name.startswith("/") or ".." in name.split("/"):
                raise Refused(f"{path} holds a path that leads out of it: {name}")
        about = self._headers("WHEEL")
        if about.get("Root-Is-Purelib", "").lower() != "true":
            raise Refused(f"{path} holds native code: this sandbox runs pure Python only")
        metadata = self._headers("METADATA")
        self.name, self.version = metadata["Name"], metadata["Version"]
        self.requires = metadata.get_all("Requires-Dist") or []
        python = metadata.get("Requires-Python")
        if python and not markers.version_matches("3.14.0", python):
            raise Refused(f"{self.name} {self.version} requires Python {python}; this one is 3.14.0")
        self._check(records[0])

    def _headers(self, name):
        from email.parser import BytesParser

        try:
            return BytesParser().parsebytes(self.archive.read(f"{self.info}/{name}"), headersonly=True)
        except KeyError:
            raise Refused(f"{self.path} is not a wheel: it has no {name}") from None

    def _check(self, record):
        """Compares every file with its sum."""
        rows = csv.reader(io.StringIO(self.archive.read(record).decode()))
        sums = {row[0]: row[1] for row in rows if len(row) == 3}
        for name in self.archive.namelist():
            if name.endswith("/") or name == record or name.startswith((f"{record}.",)):
                continue
            kind, _, expected = sums.get(name, "").partition("=")
            if kind not in hashlib.algorithms_available or not expected:
                raise Refused(f"{self.path}: {name} has no sum in RECORD")
            found = base64.urlsafe_b64encode(hashlib.new(kind, self.archive.read(name)).digest()).rstrip(b"=").decode()
            if found != expected:
                raise Refused(f"{self.path}: {name} is damaged")

    def install(self, site, scripts):
        written = []
        for name in self.archive.namelist():
            if name.endswith("/") or name == f"{self.info}/RECORD":
                continue
            place, is_script = self._place(name, site, scripts)
            if place is not None:
                content = self.archive.read(name)
                if is_script:
                    content = re.sub(rb"\A#!python\w*[^\n]*", b"#!/usr/bin/python3", content)
                written.append(_write(place, content, is_script))
        if scripts:
            written += [_write(path, text, True) for path, text in self._entry_points(scripts)]
        info = f"{site}/{self.info}"
        written.append(_write(f"{info}/INSTALLER", b"pip\n"))
        rows = [f"{os.path.relpath(path, site)},,\n" for path in [*written, f"{info}/RECORD"]]
        _write(f"{info}/RECORD", "".join(rows).encode())

    def _place(self, name, site, scripts):
        data = f"{self.info.removesuffix('.dist-info')}.data/"
        if not name.startswith(data):
            return f"{site}/{name}", False
        scheme, _, rest = name.removeprefix(data).partition("/")
        if scheme == "purelib":
            return f"{site}/{rest}", False
        if scheme == "scripts":
            return (f"{scripts}/{rest}", True) if scripts else (None, False)
        if scheme == "data":
            return f"/usr/local/{rest}", False
        raise Refused(f"{self.path} wants to install {scheme}, which this sandbox has no place for")

    def _entry_points(self, scripts):
        try:
            text = self.archive.read(f"{self.info}/entry_points.txt").decode()
        except KeyError:
            return
        parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
        parser.optionxform = str
        parser.read_string(text)
        if parser.has_section("console_scripts"):
            for name, target in parser.items("console_scripts"):
                module, _, function = target.partition("[")[0].strip().partition(":")
                call = f"import sys\nfrom {module} import {function.split('.')[0]}\nsys.exit({function}())\n"
                yield f"{scripts}/{name}", f"#!/usr/bin/python3\n{call}".encode()


def _write(path, content, is_script=False):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
    if is_script:
        os.chmod(path, 0o755)
    return path


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def installed(site=SITE):
    found = {}
    paths = [site, *(path for path in sys.path if path.endswith("site-packages"))]
    for one in importlib.metadata.distributions(path=[path for path in paths if os.path.isdir(path)]):
        found.setdefault(normal(one.metadata["Name"]), one)
    return found


def install(arguments):
    site, scripts, paths = SITE, SCRIPTS, []
    with_needs, quiet, force = True, False, False
    words = list(arguments)
    while words:
        word = words.pop(0)
        if word in ("-t", "--target"):
            if not words:
                raise Refused(f"{word} needs a directory")
            site, scripts = os.path.abspath(words.pop(0)), None
        elif word == "--no-deps":
            with_needs = False
        elif word in ("-q", "--quiet"):
            quiet = True
        elif word in ("--force-reinstall", "-U", "--upgrade"):
            force = True
        elif word in ("--user", "--no-index", "--break-system-packages", "--no-cache-dir", "--disable-pip-version-check"):
            # They have no effect: there is one user, no index and no cache.
            pass
        elif word.startswith("-"):
            raise Refused(f"install: no such option here: {word}")
        elif not word.endswith(".whl"):
            raise Refused(f"{word}: this sandbox has no network; give the path of a wheel file (.whl)")
        else:
            paths.append(word)
    if not paths:
        raise Refused("install: give the path of a wheel file (.whl)")
    wheels = [Wheel(path) for path in paths]
    present = installed(site)
    there = {name: one.version for name, one in present.items()} | {normal(w.name): w.version for w in wheels}
    for wheel in wheels if with_needs else ():
        for requirement in wheel.requires:
            _check_requirement(wheel, requirement, there)
    done = []
    for wheel in wheels:
        old = present.get(normal(wheel.name))
        if old is not None and old.version == wheel.version and not force:
            if not quiet:
                print(f"{wheel.name} {wheel.version} is already installed")
            continue
        if old is not None:
            _remove(old)
        wheel.install(site, scripts)
        done.append(f"{wheel.name}-{wheel.version}")
    if done and not quiet:
        print("Successfully installed", *done)
    return 0


def _check_requirement(wheel, requirement, there):
    name, specifier, marker = markers.split(requirement)
    if marker and not markers.holds(marker):
        return
    version = there.get(normal(name))
    if version is None:
        raise Refused(f"{wheel.name} requires {name}{specifier}: give its wheel too, or use --no-deps")
    if not markers.version_matches(version, specifier):
        raise Refused(f"{wheel.name} requires {name}{specifier}, but {name} {version} is there")


def _remove(one):
    for file in one.files or ():
        path = os.path.normpath(file.locate())
        if os.path.lexists(path):
            os.unlink(path)
            cache = os.path.join(os.path.dirname(path), "__pycache__")
            shutil.rmtree(cache, ignore_errors=True)
            _prune(os.path.dirname(path))


def _prune(directory):
    while directory not in (SITE, SCRIPTS, "/", "/usr/local"):
        try:
            os.rmdir(directory)
        except OSError:
            return
        directory = os.path.dirname(directory)


def uninstall(arguments):
    names = [word for word in arguments if not word.startswith("-")]
    unknown = [word for word in arguments if word.startswith("-") and word not in ("-y", "--yes")]
    if unknown or not names:
        raise Refused(f"uninstall: no such option here: {unknown[0]}" if unknown else "uninstall: give a package's name")
    present = installed()
    for name in names:
        one = present.get(normal(name))
        if one is None:
            print(f"WARNING: Skipping {name} as it is not installed.", file=sys.stderr)
            continue
        said = f"Successfully uninstalled {one.metadata['Name']}-{one.version}"
        _remove(one)
        print(said)
    return 0


def listing(arguments):
    if arguments:
        raise Refused(f"list: no such option here: {arguments[0]}")
    rows = [("Package", "Version"), *((one.metadata["Name"], one.version) for _, one in sorted(installed().items()))]
    size = max(len(name) for name, _ in rows)
    if len(rows) > 1:
        rows.insert(1, ("-" * size, "-" * max(len(version) for _, version in rows)))
        for name, version in rows:
            print(f"{name.ljust(size)} {version}")
    return 0


def freeze(arguments):
    if arguments:
        raise Refused(f"freeze: no such option here: {arguments[0]}")
    for _, one in sorted(installed().items()):
        print(f"{one.metadata['Name']}=={one.version}")
    return 0


def show(arguments):
    missing = 0
    for name in arguments:
        one = installed().get(normal(name))
        if one is None:
            print(f"WARNING: Package(s) not found: {name}", file=sys.stderr)
            missing = 1
            continue
        for field in ("Name", "Version", "Summary", "Home-page", "Author", "License"):
            print(f"{field}: {one.metadata.get(field, '')}")
        print(f"Location: {one.locate_file('')}")
        needs = (markers.split(requirement) for requirement in one.requires or ())
        print("Requires:", ", ".join(sorted(name for name, _, marker in needs if not marker or markers.holds(marker))))
    return missing


COMMANDS = {"install": install, "uninstall": uninstall, "list": listing, "freeze": freeze, "show": show}


def main(arguments):
    if not arguments or arguments[0] in ("help", "--help", "-h"):
        sys.stdout.write(HELP)
        return 0
    if arguments[0] in ("--version", "-V"):
        print("pip (isopod) for wheel files, python 3.14")
        return 0
    if arguments[0] not in COMMANDS:
        print(f'ERROR: unknown command "{arguments[0]}"', file=sys.stderr)
        return 1
    for place in (SITE, LAYER):
        if os.path.isdir(place) and place not in sys.path:
            sys.path.append(place)
    try:
        return COMMANDS[arguments[0]](arguments[1:])
    except (Refused, OSError) as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return 1
