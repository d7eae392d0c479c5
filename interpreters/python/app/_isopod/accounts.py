"""`pwd` and `grp` on the sandbox's own files: C modules that Python for WASI does not have."""

import sys
import types
from collections import namedtuple

PASSWD = namedtuple("struct_passwd", "pw_name pw_passwd pw_uid pw_gid pw_gecos pw_dir pw_shell")
GROUP = namedtuple("struct_group", "gr_name gr_passwd gr_gid gr_mem")


def _lines(path, fields):
    try:
        with open(path, encoding="utf-8") as file:
            rows = [line.rstrip("\n").split(":") for line in file]
    except FileNotFoundError:
        return []
    return [row for row in rows if len(row) == fields]


def getpwall():
    return [PASSWD(name, x, int(uid), int(gid), *rest) for name, x, uid, gid, *rest in _lines("/etc/passwd", 7)]


def getgrall():
    rows = _lines("/etc/group", 4)
    return [GROUP(name, x, int(gid), members.split(",") if members else []) for name, x, gid, members in rows]


def _finder(name, all_of, field, kind):
    def find(key):
        if not isinstance(key, kind):
            raise TypeError(f"{name}(): {kind.__name__} expected, not {type(key).__name__}")
        for entry in all_of():
            if entry[field] == key:
                return entry
        raise KeyError(f"{name}(): {'uid' if field == 2 else 'name'} not found: {key!r}")

    find.__name__ = name
    return find


def install():
    pwd, grp = types.ModuleType("pwd"), types.ModuleType("grp")
    pwd.struct_passwd, grp.struct_group = PASSWD, GROUP
    pwd.getpwall, grp.getgrall = getpwall, getgrall
    pwd.getpwnam, pwd.getpwuid = _finder("getpwnam", getpwall, 0, str), _finder("getpwuid", getpwall, 2, int)
    grp.getgrnam, grp.getgrgid = _finder("getgrnam", getgrall, 0, str), _finder("getgrgid", getgrall, 2, int)
    sys.modules["pwd"], sys.modules["grp"] = pwd, grp
