"""Libraries that crash, hang, exit or return nonsense, at `import torch`."""

from __future__ import annotations

import pytest
from stub_wheels import Wheels
from test_autoload import report
from test_probe import TABLE, build

pytestmark = pytest.mark.usefixtures("dl_device")
LOAD = "#include <stdlib.h>\n__attribute__((constructor)) static void go(void) {{ {}; }}\n"
GOOD = TABLE.replace("COUNT", "*n = 1")
ENTRY = "#include <stdlib.h>\n" + GOOD
HANG = "for (;;) pause()"


def at_count(action: str) -> str:
    return "#include <stdlib.h>\n" + TABLE.replace("COUNT", action)


CASES = {
    "crash at load": (LOAD.format("raise(SIGILL)") + GOOD, "SIGILL while being loaded"),
    "exit at load": (LOAD.format("exit(0)") + GOOD, "ended the process with status 0"),
    "_exit at load": (LOAD.format("_exit(0)") + GOOD, "ended the process with status 0"),
    "hang at load": (LOAD.format(HANG) + GOOD, "longer than 1 seconds while being loaded"),
    "abort in the entry": (
        ENTRY.replace("*out = &instance;", "abort();"),
        "SIGABRT while being asked for an instance",
    ),
    "exit in the entry": (
        ENTRY.replace("*out = &instance;", "exit(0);"),
        "status 0 while being asked for an instance",
    ),
    "crash of the count": (at_count("raise(SIGSEGV)"), "SIGSEGV while being asked how many"),
    "hang of the count": (at_count(HANG), "longer than 1 seconds while being asked how many"),
    "exit in the count": (at_count("exit(0)"), "status 0 while being asked how many"),
    "count of 2^31 - 1": (at_count("*n = 2147483647"), "2147483647 devices"),
    "count of -1": (at_count("*n = -1"), "-1 devices"),
    "crash of the properties": (
        at_count("*n = 1").replace("p->name[0] = 'T'", "raise(SIGBUS)"),
        "SIGBUS while being asked for the properties",
    ),
}


@pytest.mark.parametrize(("source", "cause"), CASES.values(), ids=CASES)
def test_import_torch_survives_with_one_warning(wheels: Wheels, source: str, cause: str) -> None:
    library = build(wheels.root, source).library
    wheels.add_vendor("dl-vendor-bad", name="bad", library=f"Path({str(library)!r})", priority="9")
    cache = str(wheels.root / "cache")
    found = report(wheels, DL_PROBE_TIMEOUT="1", XDG_CACHE_HOME=cache)
    assert found["usable"]
    (warning,) = found["warnings"]
    assert "dl-vendor-bad 1.2" in warning and cause in warning
    assert "pip install --force-reinstall dl-vendor-bad" in warning
    assert ("DL_PROBE_TIMEOUT" in warning) == ("longer" in cause)


def test_a_death_at_the_real_load_is_not_repeated(wheels: Wheels) -> None:
    """The library crashes only with torch as host, which no trial can detect."""
    crash = "(void)(host->name[1] == 'o' && raise(SIGSEGV)); *out = &instance;"
    library = build(wheels.root, GOOD.replace("*out = &instance;", crash)).library
    wheels.add_vendor("dl-vendor-bad", name="bad", library=f"Path({str(library)!r})", priority="9")
    variables = {"XDG_CACHE_HOME": str(wheels.root / "cache")}
    for _ in range(2):
        assert wheels.run("import torch", **variables).returncode == -11
    found = report(wheels, **variables)
    (warning,) = found["warnings"]
    assert found["usable"] and "the last 2 processes died while loading it" in warning
    assert "dl-vendor-bad 1.2" in warning and str(wheels.root / "cache") in warning


def test_ctrl_c_while_a_library_hangs_ends_import_torch(wheels: Wheels) -> None:
    library = build(wheels.root, LOAD.format(HANG) + GOOD).library
    wheels.add_vendor("dl-vendor-bad", name="bad", library=f"Path({str(library)!r})", priority="9")
    code = """
    import _thread, signal
    from diopi_proto.trial import run
    real = run._listen

    def listen(*arguments):
        _thread.interrupt_main()
        return real(*arguments)

    run._listen = listen
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        import torch
    except KeyboardInterrupt:
        print("interrupted")
    """
    done = wheels.run(code, XDG_CACHE_HOME=str(wheels.root / "cache"), DL_PROBE_TIMEOUT="200")
    assert done.stdout == "interrupted\n", done.stderr
