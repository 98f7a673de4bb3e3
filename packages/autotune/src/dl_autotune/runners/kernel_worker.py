"""Work of a tuning run's child process: compile, check and race a configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import TuningError
from ..kernel import load_kernel
from ..observers import Calibration, Race, RaceSettings, calibrate, race
from ..spaces import Config
from ..spaces.markers import substitute
from ..toolchains import CompileError, Toolchain
from .correctness import Launcher, WrongResultError, check_again, check_results
from .limits import Limits
from .timing import timed_launches


@dataclass(frozen=True)
class Target:
    """Parameters of a worker, sent to its process.

    :ivar path: the Python file of the kernel.
    :ivar caches: one of :data:`dl_autotune.runners.timing.CACHES`.
    """

    path: Path
    vendor: str
    device: int = 0
    caches: str = "warm"
    compile_seconds: float = 120.0
    seed: int = 0
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Identify:
    """Request for the identity of trials, a mapping of strings."""


@dataclass(frozen=True)
class Compile:
    """Request to compile; the answer is code or a :class:`Rejected`."""

    config: Config


@dataclass(frozen=True)
class Calibrate:
    """Request for the :class:`Calibration` of the baseline; :class:`Rejected` if it is wrong."""

    config: Config
    code: bytes = field(repr=False)
    settings: RaceSettings


@dataclass(frozen=True)
class Evaluate:
    """Request to race a candidate; the answer is a :class:`Race` or a :class:`Rejected`."""

    config: Config
    code: bytes = field(repr=False)
    baseline: Config
    baseline_code: bytes = field(repr=False)
    settings: RaceSettings
    seed: int


@dataclass(frozen=True)
class Rejected:
    """A candidate that was not timed.

    :ivar reason: reason as in T4: "compile", "correctness", "runtime", "timeout".
    """

    reason: str
    message: str


def open_toolchain(target: Target) -> Toolchain:
    """Return the toolchain of a target."""
    from ..toolchains.kernel_extension import KernelExtension

    return KernelExtension(target.vendor, target.device)


class KernelWorker:
    """Handler of the requests above, in a worker process that may crash."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._kernel = load_kernel(target.path)
        self._text = self._kernel.text()
        self._toolchain = open_toolchain(target)
        self._loaded: dict[bytes, Callable[..., None]] = {}
        self._timed: Callable[[Callable[..., None], Config], Callable[[], float]] | None = None

    def __call__(self, request: object) -> object:
        """Answer one request."""
        if isinstance(request, Identify):
            return dict(self._toolchain.identity())
        if isinstance(request, Compile):
            return self._compile(request.config)
        if isinstance(request, Calibrate):
            return self._calibrate(request)
        if isinstance(request, Evaluate):
            return self._evaluate(request)
        raise TuningError(f"[worker] {request!r} is not a request")

    def _compile(self, config: Config) -> bytes | Rejected:
        source = substitute(self._text, config, self._kernel.source.name)
        try:
            return self._toolchain.compile(
                source,
                self._kernel.source.name,
                self._kernel.options,
                self._target.compile_seconds,
            )
        except CompileError as error:
            return Rejected("compile", str(error))

    def _calibrate(self, request: Calibrate) -> Calibration | Rejected:
        try:
            run = self._prepare(request.config, request.code)
        except WrongResultError as error:
            return Rejected("correctness", str(error))
        return calibrate(run, request.settings, seed=self._target.seed)

    def _evaluate(self, request: Evaluate) -> Race | Rejected:
        try:
            launcher = self._judged(request.config, request.code)
            baseline = self._prepare(request.baseline, request.baseline_code)
            candidate = self._timed_by(launcher, request.config)
            found = race(baseline, candidate, request.settings, seed=request.seed)
            kernel, toolchain, seed = self._kernel, self._toolchain, self._target.seed
            check_again(kernel, toolchain, launcher, request.config, seed)
        except WrongResultError as error:
            return Rejected("correctness", str(error))
        return found

    def _prepare(self, config: Config, code: bytes) -> Callable[[], float]:
        """Load code, check it on first use, and prepare it for timing."""
        launcher = self._loaded.get(code)
        if launcher is None:
            launcher = self._loaded[code] = self._judged(config, code)
        return self._timed_by(launcher, config)

    def _judged(self, config: Config, code: bytes) -> Launcher:
        launcher = self._toolchain.load(code, self._kernel.function)
        check_results(self._kernel, self._toolchain, launcher, config, self._target.seed)
        return launcher

    def _timed_by(self, launcher: Launcher, config: Config) -> Callable[[], float]:
        if self._timed is None:
            self._timed = timed_launches(
                self._kernel, self._toolchain, self._target.caches, self._target.seed
            )
        return self._timed(launcher, config)


def describe(target: Target) -> Mapping[str, Any]:
    """Return the identity of a target's kernel and of its measurement."""
    return {**load_kernel(target.path).identity(), "caches": target.caches}
