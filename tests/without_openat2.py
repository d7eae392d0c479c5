"""Runs a program in a process in which openat2 fails, as on an old kernel or under the seccomp filter of a container.

The first argument is the error number: 38 is ENOSYS and 1 is EPERM. Exits with 77 if no filter can be set.
"""

import ctypes
import os
import struct
import sys

code = lambda op, jt, jf, k: struct.pack("HBBI", op, jt, jf, k)
# openat2 has the number 437 on every architecture.
program = code(0x20, 0, 0, 0) + code(0x15, 0, 1, 437) + code(6, 0, 0, 0x50000 | int(sys.argv[1])) + code(6, 0, 0, 0x7FFF0000)
text = ctypes.create_string_buffer(program)


class Filter(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


libc = ctypes.CDLL(None)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(Filter(4, ctypes.cast(text, ctypes.c_void_p))), 0, 0):
    sys.exit(77)
os.execv(sys.argv[2], sys.argv[2:])
