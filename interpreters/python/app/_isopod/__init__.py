"""python3 of the sandbox: what runs when the kernel starts a process of this component.

CPython is initialised when the component is built: `prepare` imports what scripts import most, puts what WASI lacks in
its place and freezes the heap. A process then starts with a copy of that memory, so all that is left to do is what
belongs to the process: its arguments, environment, streams and random numbers (`renewal`).

- `kernel`: the kernel's calls. `system`, `descriptors`, `processes` and `accounts` put them where `os`, `subprocess`
  and `pwd` should have them; `loop` does the same for `asyncio`.
- `signals` and `digests`: handlers of signals, and what `hashlib` has only with OpenSSL.
- `absent`: what there is not, with a message that says so.
- `programs`, `command_line`, `renewal`, `ending`: the life of a process.
- `wheels` and `sqlite_shell`: the programs `pip` and `sqlite3`.
"""
