"""The process that imports torch once and forks a child for each run of a program.

It reads a line of JSON for each request from one pipe and answers on another: ``preload`` imports
modules, ``run`` forks. It computes nothing and touches no device: threads and devices do not
outlive a fork. ``python -m dl_optools.bisect.fork_server READ WRITE PROGRAM`` is for
:mod:`.forked_runs`, not for users.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import os
import runpy
import select
import signal
import sys
import sysconfig
import threading
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from dl_optools.environment import environment, replace_environment
from dl_optools.launching.lifetime import kill_all_of, tied_to_parent


def serve(read: int, write: int) -> dict[str, Any]:
    """Answer requests until there are no more, and end then; returns in a child, with its run."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    # Ctrl-C is for the command that started this, which ends the runs.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tie = tied_to_parent(signal.SIGKILL)
    running: dict[int, int] = {}
    waiting = b""
    _answer(write, {"ready": True})
    while True:
        ready, _, _ = select.select([read, woken], [], [])
        if woken in ready:
            os.read(woken, 1 << 12)
            for pid, status in _ended(running):
                _answer(write, {"ended": running.pop(pid), "status": status})
        if read not in ready:
            continue
        data = os.read(read, 1 << 20)
        if not data:
            # Who started the runs has ended, or wants no more of them.
            for pid in running:
                kill_all_of(pid)
            os._exit(0)
        *lines, waiting = (waiting + data).split(b"\n")
        for line in lines:
            request = json.loads(line)
            if "preload" in request:
                _answer(write, {"preloaded": True, "unsafe": preload(request["preload"])})
                continue
            gc.freeze()
            pid = os.fork()
            if pid == 0:
                tie()
                signal.set_wakeup_fd(-1)
                for each in (read, write, woken, wake):
                    os.close(each)
                return dict(request)
            running[pid] = request["run"]
            _answer(write, {"started": request["run"], "process": pid})


def _ended(running: Iterable[int]) -> list[tuple[int, int]]:
    found = []
    for pid in list(running):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            found.append((pid, code if code >= 0 else 128 - code))
    return found


def _answer(write: int, message: dict[str, Any]) -> None:
    os.write(write, json.dumps(message).encode() + b"\n")


def preload(names: Iterable[str]) -> str:
    """Import modules of packages that are installed; why no fork may follow, or nothing.

    Modules of the program itself are left to its runs: they may compute, or start something.
    """
    before = _threads()
    for name in names:
        if name in sys.modules or not _is_installed(name):
            continue
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001 - what a run can import in its own time, it will
            continue
    if _threads() > before or threading.active_count() > 1:
        return "a module that the program imports starts threads"
    return _device_in_use()


def _threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def _device_in_use() -> str:
    import torch

    accelerator = torch.accelerator.current_accelerator()
    if accelerator is None:
        return ""
    is_lost = getattr(torch.get_device_module(accelerator), "_is_in_bad_fork", None)
    if is_lost is None:
        return ""
    # Only a child can tell whether it has lost the device.
    child = os.fork()
    if child == 0:
        os._exit(bool(is_lost()))
    lost = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return f"a module that the program imports uses the device {accelerator.type}" if lost else ""


def _is_installed(name: str) -> bool:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):
        return False
    origin = getattr(spec, "origin", None)
    if not origin:
        return False
    folders = {sysconfig.get_path(x) for x in ("stdlib", "platstdlib", "purelib", "platlib")}
    return any(Path(origin).is_relative_to(folder) for folder in folders)


def become(request: dict[str, Any]) -> None:
    """Make this process a run: its output, its variables, its tools.

    Its group is of its own, so that it is killed with all that it starts.
    """
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, source in ((0, nothing), (1, log), (2, log)):
        os.dup2(source, target)
    replace_environment(request["environment"])
    from dl_optools.launching.autostart import start

    start(environment())


def execute(kind: str, what: str, arguments: list[str]) -> None:
    """Run the program as ``python`` does."""
    sys.argv = ["-c" if kind == "code" else what, *arguments]
    if kind == "module":
        sys.path[0] = str(Path.cwd())
        runpy.run_module(what, run_name="__main__", alter_sys=True)
        return
    main = ModuleType("__main__")
    sys.modules["__main__"] = main
    if kind == "code":
        sys.path[0] = ""
        exec(compile(what, "<string>", "exec"), main.__dict__)
        return
    sys.path[0] = str(Path(what).resolve().parent)
    main.__file__ = what
    exec(compile(Path(what).read_bytes(), what, "exec"), main.__dict__)


def run(arguments: list[str]) -> None:
    read, write, kind, what, *rest = arguments
    import torch  # noqa: F401

    import dl_optools.fallback
    import dl_optools.launching.autostart  # noqa: F401

    request = serve(int(read), int(write))
    become(request)
    execute(kind, what, rest)


if __name__ == "__main__":
    run(sys.argv[1:])
