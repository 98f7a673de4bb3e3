"""Process that imports torch once and forks a child for each run of a program.

The request ``preload`` imports modules, ``run`` forks. The process computes nothing and uses no
device, because threads and devices do not survive a fork.
``python -m dl_optools.bisect.fork_server DESCRIPTOR PROGRAM`` is for :mod:`.forked_runs`, not for
users.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import runpy
import sys
import sysconfig
import threading
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from diopi_proto.worker.forks import serve_forks
from dl_optools.environment import environment, replace_environment


def answer(request: dict[str, Any]) -> str | None:
    """Answer a request that is not for a run; None: the request is unknown."""
    if "preload" in request:
        return preload(request["preload"])
    return "" if "ready" in request else None


def preload(names: Iterable[str]) -> str:
    """Import modules of installed packages; return why forks are unsafe afterwards, or "".

    Modules of the program itself are left to its runs: they may compute, or start something.
    """
    before = _threads()
    for name in names:
        if name in sys.modules or not _is_installed(name):
            continue
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001 - the run itself will report an import that fails
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
    # Only a child can determine whether it has lost the device.
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
    """Turn this process into a run: set its output, its variables and its tools.

    It gets its own process group, so that it is killed with all processes that it starts.
    """
    os.setsid()
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
    descriptor, kind, what, *rest = arguments
    import torch  # noqa: F401

    import dl_optools.fallback
    import dl_optools.launching.autostart  # noqa: F401

    request = serve_forks(int(descriptor), answer)
    become(request)
    execute(kind, what, rest)


if __name__ == "__main__":
    run(sys.argv[1:])
