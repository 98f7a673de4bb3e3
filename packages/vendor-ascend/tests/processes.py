"""Child processes and fakes of CANN's libraries for the tests of this vendor."""

from __future__ import annotations

from pathlib import Path

from driver_tests.processes import Processes, compile_driver

PROCESSES = Processes(
    "ascend", ("DL_ASCEND_", "FAKE_ACL_", "ASCEND_", "DL_VENDORS"), "libascendcl.so"
)
run, run_on_vendor, doctor = PROCESSES.run, PROCESSES.run_on_vendor, PROCESSES.doctor


def compile_runtime(folder: Path, *flags: str) -> str:
    """Build the fake libascendcl; fake_acl.cpp has its variables."""
    target = folder / "libascendcl.so"
    named = ("-fvisibility=hidden", f"-Wl,-soname,{target.name}")
    own = f"-I{PROCESSES.folder / 'csrc'}"
    return str(compile_driver("ascend/runtime", target, *named, own, *flags))
