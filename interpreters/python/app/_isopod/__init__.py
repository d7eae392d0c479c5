"""python3 of the sandbox: the code that runs when the kernel starts a process of this component.

CPython is initialised when the component is built: `prepare` imports the modules that scripts import most, adds the
functions that WASI lacks and freezes the heap. A process starts with a copy of that memory and only sets up its own
state: arguments, environment, streams and random numbers (`renewal`).

- `kernel`: the kernel's calls. `system`, `descriptors`, `processes` and `accounts` implement `os`, `subprocess` and
  `pwd` on them; `loop` adapts `asyncio`.
- `signals` and `digests`: handlers of signals, and the functions that `hashlib` has only with OpenSSL.
- `absent`: error messages for modules and functions that do not exist here.
- `programs`, `command_line`, `renewal`, `ending`: the start and the end of a process.
- `wheels` and `sqlite_shell`: the programs `pip` and `sqlite3`.
"""
