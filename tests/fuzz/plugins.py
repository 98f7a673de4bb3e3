"""Plugins with arbitrary wheels, modules and descriptions: each is a separate problem."""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import os
import random
import shutil
import sys
import warnings
from pathlib import Path

from dl_core import config, selection
from dl_core.manager import PluginManager

from .kind import CANARY, Case, Kind, WrongError, check_shown

_HEAD = """
import pluggy
from pathlib import Path
from diopi_proto.descriptor import VendorDescriptor
hookimpl = pluggy.HookimplMarker("dl")
class Odd(BaseException): pass
class Mute(Exception):
    def __str__(self): raise Odd("no text")
class Deep:
    def __repr__(self): return repr([self])
    def __bool__(self): raise Mute()
    def __eq__(self, other): raise Odd()
    __hash__ = None
class Text(str):
    def __str__(self): raise Odd()
    def __format__(self, how): raise Odd()
class Sub(VendorDescriptor):
    @property
    def extra(self): raise Odd()
    def __getattribute__(self, name):
        if name == "priority": raise Mute()
        return object.__getattribute__(self, name)
def raises(error): raise error
"""
_ERRORS = (
    *(
        "ValueError('x')",
        "SystemExit(0)",
        "Mute()",
        "Odd('odd')",
        "GeneratorExit()",
        "MemoryError()",
    ),
    *(
        "RecursionError()",
        "UnicodeDecodeError('a', b'', 0, 1, 'b')",
        "StopIteration()",
        "OSError(2)",
    ),
    *("ImportError('no')", "ValueError('\\n\\x1b[2JProblems: none')", "Exception('\\udcff' * 9)"),
)
_VALUES = (
    *("None", "7", "-1", "2.5", "'x'", "''", "b'x'", "'a' * 10**5", "'A b'", "Deep()", "Text('t')"),
    *(
        "[]",
        "{}",
        "True",
        "False",
        "10**400",
        "float('nan')",
        "Path('/x')",
        "Path('x')",
        "'/a\\0b'",
    ),
    *(
        "'\\n\\x1b[2J'",
        "'\\udcff'",
        "Path('/proc/self/mem')",
        "Path('/tmp/../tmp')",
        "lambda: None",
    ),
    *("type", "NotImplemented", "...", "'x' + chr(0x202e)", "Path.home", "hookimpl"),
)
_MODULES = (
    *(
        "",
        "import no_such_module",
        "def broken(:",
        "raise SystemExit(3)",
        "\0",
        "x = (" * 300,
        "1 / 0",
    ),
    *(
        "import sys; sys.modules[__name__] = None",
        "def f(): f()\nf()",
        "del __name__",
        "__path__ = 3",
    ),
)
_ENTRIES = (
    *("[dl]\n{name} = {module}\n", "[dl]\n{name} = {module}:missing\n", "[dl]\n{name}\n", "[dl\n"),
    *(
        "[dl]\n = {module}\n",
        "[dl]\n{name} = \n",
        "[dl]\n{name} = no module!\n",
        "[dl]\nx = y = z\n",
    ),
    *(
        "[dl]\n{name} = {module} [extra]\n",
        "[dl]\n\x1b[2J = {module}\n",
        "\ufeff[dl]\n{name}={module}",
    ),
    "[dl]\n{name} = os:system\n[dl]\n{name} = {module}\n",
)


def begin(folder: Path, own: Path) -> Case:
    foreign = {entry.name for entry in importlib.metadata.entry_points(group="dl")}
    count = 0

    def case(choose: random.Random) -> str:
        nonlocal count
        place = own / "wheels"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        names = []
        for _ in range(choose.randrange(1, 4)):
            count += 1
            names.append(_install(choose, place, f"fuzzed_{count}"))
        _install_good(place, f"good_{count}")
        importlib.invalidate_caches()
        sys.path.insert(0, str(place))
        warnings.simplefilter("ignore")
        try:
            return _load(foreign)
        finally:
            sys.path.remove(str(place))
            for name in [*names, f"good_{count}"]:
                sys.modules.pop(name, None)

    return case


def _load(foreign: set[str]) -> str:
    settings = config.read({"DL_DISABLE": ",".join(sorted(foreign))})
    manager = PluginManager(settings.disable)
    manager.load()
    candidates = []
    for record, descriptor in manager.vendors():
        present = manager.present(record, descriptor)
        candidates.append(
            selection.Candidate(
                descriptor.name, descriptor.priority, descriptor.accelerator, present
            )
        )
    plan = selection.plan(candidates, None, None)
    if "good" not in [candidate.name for candidate in candidates]:
        raise WrongError(f"the good vendor is gone: {candidates}")
    for text in (*manager.problems, *plan.reasons):
        check_shown(text, 4000)
    ours = [record for record in manager.records if record.name not in foreign]
    broken = [record for record in ours if record.status in ("failed", "untrusted")]
    if any(record.problem is None for record in broken):
        raise WrongError("one failed and has no problem")
    return f"{len(broken)} failed"


def _install(choose: random.Random, place: Path, module: str) -> str:
    source = _source(choose)
    if choose.random() < 0.05:
        (place / f"{module}.py").write_bytes(bytes(choose.randrange(256) for _ in range(200)))
    else:
        (place / f"{module}.py").write_bytes(source.encode(errors="surrogatepass"))
    name = choose.choice((module, "same", "odd", "cpu"))
    info = place / f"{choose.choice((module, 'dl_vendor_odd', 'x-y z'))}-1.dist-info"
    with contextlib.suppress(FileExistsError):
        info.mkdir()
    entry = _ENTRIES[0] if choose.random() < 0.7 else choose.choice(_ENTRIES)
    text = entry.format(name=name, module=module).encode(errors="surrogatepass")
    if choose.random() < 0.05:
        text = bytes(choose.randrange(256) for _ in range(50)) + b"\n[dl]\n"
    (info / "entry_points.txt").write_bytes(text)
    metadata = f"Metadata-Version: 2.1\nName: {module}\nVersion: 1\n\n".encode()
    if choose.random() < 0.1:
        metadata = choose.choice(
            (b"", b"\xff\xfe", b"Name: \x1b[2J\nVersion: \xc3\xa9\n", b"Name\n")
        )
    if choose.random() < 0.95:
        (info / "METADATA").write_bytes(metadata)
    return module


def _source(choose: random.Random) -> str:
    if choose.random() < 0.15:
        return choose.choice(_MODULES)
    fields = {
        "name": "'odd'",
        "library": f"Path('/$(touch ${CANARY})/lib.so')",
        "version": "'1'",
        "priority": "0",
        "present": "lambda: True",
    }
    for field in (*fields, "accelerator", "legacy"):
        if choose.random() < 0.25:
            fields[field] = choose.choice(_VALUES)
    if choose.random() < 0.2:
        fields["present"] = f"lambda: raises({choose.choice(_ERRORS)})"
    if choose.random() < 0.1:
        fields["present"] = f"lambda: {choose.choice(_VALUES)}"
    kind = choose.choice(
        ("VendorDescriptor", "VendorDescriptor", "VendorDescriptor", "Sub", "dict")
    )
    answer = f"{kind}({', '.join(f'{k}={v}' for k, v in fields.items())})"
    if choose.random() < 0.1:
        answer = choose.choice((f"raises({choose.choice(_ERRORS)})", choose.choice(_VALUES)))
    hook = choose.choice(("dl_vendor", "dl_vendor", "dl_vendor", "dl_later", "dl_cli_commands"))
    arguments = choose.choice(("", "", "", "driver", "*args", "x=1"))
    return f"{_HEAD}\n@hookimpl\ndef {hook}({arguments}):\n    return {answer}\n"


def _install_good(place: Path, module: str) -> None:
    answer = "VendorDescriptor('good', Path('/nonexistent/lib.so'), '1')"
    (place / f"{module}.py").write_text(
        f"{_HEAD}\n@hookimpl\ndef dl_vendor():\n    return {answer}\n"
    )
    info = place / "dl_vendor_good-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: dl-vendor-good\nVersion: 1\n\n")
    (info / "entry_points.txt").write_text(f"[dl]\ngood = {module}\n")
    os.environ.pop("DL_DISABLE", None)


KIND = Kind("plugins", 2500, begin)
