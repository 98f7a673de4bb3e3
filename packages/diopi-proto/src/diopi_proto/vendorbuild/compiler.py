"""Compile a vendor library by the build rules, with the system's C and C++ compilers."""

from __future__ import annotations

import hashlib
import logging
import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from .._environment import environment
from ..errors import BuildError
from . import rules
from .check import check_library
from .device import DeviceCompiler

_log = logging.getLogger(__name__)
_C_SUFFIXES = (".c",)
_CXX_SUFFIXES = (".cpp", ".cc", ".cxx", ".C")


def compile_library(
    output: str | Path,
    sources: Sequence[str | Path],
    *,
    exports: Sequence[str] = (rules.ENTRY_SYMBOL,),
    legacy: bool = False,
    soname: str | None = None,
    include_dirs: Sequence[str | Path] = (),
    compile_flags: Sequence[str] = (),
    link_flags: Sequence[str] = (),
    build_dir: str | Path | None = None,
    jobs: int | None = None,
    check: bool = True,
    macros: Sequence[str] = (),
    device_compiler: DeviceCompiler | None = None,
) -> Path:
    """Compile C and C++ sources into one shared library by the build rules, and check it.

    The contract's headers are in the include path. ``CC`` and ``CXX`` select other compilers
    (``ccache g++``).

    :param exports: names, or glob patterns, of all exported symbols.
    :param legacy: a library in DIOPI's style: DIOPI's runtime functions may be undefined.
    :param compile_flags: flags placed after the rules' flags, so that ``-O1`` overrides ``-O3``.
    :param build_dir: folder for objects, so that only changed sources are compiled again; None: a
        temporary one.
    :param jobs: number of parallel compilers; None: ``MAX_JOBS``, or the number of processors.
        Sources that took longest before are compiled first.
    :param check: False skips :func:`check_library`.
    :param macros: ``-D`` and ``-U`` flags for all compilers.
    :param device_compiler: compiler for the sources with its suffix. It gets ``include_dirs`` and
        ``macros``, but not ``compile_flags``.
    :returns: ``output`` as an absolute path.
    :raises BuildError: a source does not compile or link, or the result violates a rule.
    """
    output = Path(output).absolute()
    if not sources:
        raise BuildError(f"{output.name} has no sources")
    with ExitStack() as stack:
        if build_dir is None:
            build_dir = stack.enter_context(tempfile.TemporaryDirectory())
        objects_dir = Path(build_dir).absolute()
        objects_dir.mkdir(parents=True, exist_ok=True)
        includes = [f"-I{Path(d).absolute()}" for d in (*include_dirs, _contract_headers())]
        flags = [*includes, *macros]
        units = [
            _Unit(Path(source).absolute(), objects_dir, flags, compile_flags, device_compiler)
            for source in sources
        ]
        longest_first = sorted(units, key=lambda unit: -unit.seconds_before())
        with ThreadPoolExecutor(max_workers=jobs or _default_jobs()) as pool:
            for _ in pool.map(_Unit.compile, longest_first):
                pass
        script = objects_dir / "exports.map"
        script.write_text(rules.version_script(exports), encoding="utf-8")
        cxx = any(unit.is_cxx for unit in units)
        command = [
            *_compiler(cxx),
            *rules.LINK_FLAGS,
            *(() if legacy else rules.COMPLETE_FLAGS),
            f"-Wl,--version-script={script}",
            *([f"-Wl,-soname,{soname}"] if soname else []),
            *(str(unit.object) for unit in units),
            *link_flags,
        ]
        # Link next to the target and rename, because a loaded library must not be overwritten.
        output.parent.mkdir(parents=True, exist_ok=True)
        fresh = output.with_name(f".{output.name}.{os.getpid()}")
        try:
            _run([*command, "-o", str(fresh)], f"linking {output.name}")
            if check:
                check_library(fresh, exports=exports, legacy=legacy)
            fresh.replace(output)
        finally:
            fresh.unlink(missing_ok=True)
    return output


class _Unit:
    """One source file and its object."""

    def __init__(
        self,
        source: Path,
        build_dir: Path,
        flags: Sequence[str],
        host_flags: Sequence[str],
        device_compiler: DeviceCompiler | None,
    ) -> None:
        digest = hashlib.sha256(str(source).encode()).hexdigest()[:8]
        self.object = build_dir / f"{source.stem}-{digest}.o"
        self._source = source
        self._dependencies = self.object.with_suffix(".d")
        self._command_file = self.object.with_suffix(".cmd")
        self._seconds_file = self.object.with_suffix(".seconds")
        if device_compiler is not None and source.suffix == device_compiler.suffix:
            self.is_cxx = True
            compiler = device_compiler.compile_command(source.name)
        else:
            self.is_cxx = source.suffix in _CXX_SUFFIXES
            compiler = [*_host_compiler(source, device_compiler), *host_flags]
        self._command = [
            *compiler,
            *flags,
            "-MMD",
            "-MF",
            str(self._dependencies),
            "-c",
            str(source),
            "-o",
            str(self.object),
        ]

    def compile(self) -> None:
        if self._is_fresh():
            return
        # A failed or interrupted run must not leave a valid record.
        self._command_file.unlink(missing_ok=True)
        begin = time.monotonic()
        _run(self._command, f"compiling {self._source.name}")
        self._seconds_file.write_text(f"{time.monotonic() - begin:.2f}", encoding="utf-8")
        self._command_file.write_text(shlex.join(self._command), encoding="utf-8")

    def seconds_before(self) -> float:
        """Return the duration of the source's last compilation in this folder; 0 without one."""
        try:
            return float(self._seconds_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return 0.0

    def _is_fresh(self) -> bool:
        try:
            if self._command_file.read_text(encoding="utf-8") != shlex.join(self._command):
                return False
            built = self.object.stat().st_mtime_ns
            rule = self._dependencies.read_text(encoding="utf-8").replace("\\\n", " ")
            names = shlex.split(rule.partition(":")[2])
            return all(Path(name).stat().st_mtime_ns < built for name in names)
        except OSError:
            return False


def _contract_headers() -> Path:
    from .. import include_dir

    return include_dir()


def _host_compiler(source: Path, device_compiler: DeviceCompiler | None) -> list[str]:
    """Return the system's compiler for a source, with the flags of the rules."""
    if source.suffix not in _C_SUFFIXES + _CXX_SUFFIXES:
        known = [*_C_SUFFIXES, *_CXX_SUFFIXES]
        known += [] if device_compiler is None else [device_compiler.suffix]
        raise BuildError(
            f"{source} is neither C nor C++; supported suffixes: {', '.join(known)}. Other "
            "suffixes need a device_compiler."
        )
    cxx = source.suffix in _CXX_SUFFIXES
    return [*_compiler(cxx), *(rules.CXX_FLAGS if cxx else rules.C_FLAGS), *rules.COMMON_FLAGS]


def _compiler(cxx: bool) -> list[str]:
    return shlex.split(environment().get("CXX" if cxx else "CC") or ("g++" if cxx else "gcc"))


def _default_jobs() -> int:
    wanted = environment().get("MAX_JOBS", "")
    return max(1, int(wanted)) if wanted.isdigit() else len(os.sched_getaffinity(0))


def _run(command: list[str], action: str) -> None:
    _log.debug("%s: %s", action, shlex.join(command))
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise BuildError(
            f"{action}: cannot run {command[0]!r} ({error.strerror}); install a C++ compiler or "
            "set CC and CXX"
        ) from error
    if done.returncode != 0:
        raise BuildError(f"{action} failed:\n{shlex.join(command)}\n{done.stderr}")
    if done.stderr:
        _log.warning("%s:\n%s", action, done.stderr)
