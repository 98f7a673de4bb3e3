"""Operators that a model calls instead of torch's, and the registration of tuned kernels."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from dl_autotune.observers import Verdict
from dl_autotune.strategies import DEFAULT, make_strategy

from .defaults import default_space
from .errors import KcgError
from .files import read_json, write_json
from .gemm import Gemm, Problem, dialect, uses_tensor_cores
from .names import config_of
from .searching import Measured, Searcher, best

__all__ = [
    "OpProxy",
    "compile_model",
    "matmul",
    "registerPreCompiledKernelByJson",
    "triton_matmul",
]
LOG = logging.getLogger("kcg")
_KERNELS: dict[tuple[int, Problem], Gemm] = {}
_CALLS: Counter[str] = Counter()
_COLLECTING: list[Counter[tuple[int, Problem]]] = []
_EVALUATIONS = 40
_FINALISTS = 2


class OpProxy:
    """Operators that use a tuned kernel if there is one for exactly their shape."""

    @staticmethod
    def f_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Compute ``torch.matmul``, with a kernel if possible. ``torch.matmul`` itself runs if the
        shape has no kernel, the dtype is not float32, or a gradient is needed.
        """
        problem = Problem.between(a, b) if a.device.type == "dl" else None
        if problem is None:
            return torch.matmul(a, b)
        key = (a.device.index or 0, problem)
        for each in _COLLECTING:
            each[key] += 1
        gemm = _KERNELS.get(key)
        if gemm is None or (torch.is_grad_enabled() and (a.requires_grad or b.requires_grad)):
            return torch.matmul(a, b)
        if gemm.on_tensor_cores and not uses_tensor_cores():
            return torch.matmul(a, b)
        _CALLS[matmul.MatmulOp.__name__] += 1
        return gemm(a, b)

    @staticmethod
    def f_attention(
        q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Compute attention from two matrix products; there are no kernels for it as a whole.

        :param q: shape (..., queries, width); `k` (..., keys, width), `v` (..., keys, values).
        :param mask: mask to add to the scores.
        """
        products = OpProxy.f_matmul(q, k.transpose(-1, -2)) * q.shape[-1] ** -0.5
        if mask is not None:
            products = products + mask
        return OpProxy.f_matmul(torch.softmax(products, dim=-1), v)

    @staticmethod
    def GetOpCallCounts() -> dict[str, int]:  # noqa: N802
        """Return the number of calls that used a tuned kernel, by operator."""
        return dict(_CALLS)

    @staticmethod
    def clear() -> None:
        """Forget all kernels and counts."""
        _KERNELS.clear()
        _CALLS.clear()


class matmul:  # noqa: N801
    """DeepGen's module of matrix products."""

    class MatmulOp:
        """Key of the products in :meth:`OpProxy.GetOpCallCounts`, as ``MatmulOp.__name__``."""


class triton_matmul:  # noqa: N801
    """DeepGen's module of a baseline: a product of the device, without a tuned kernel."""

    @staticmethod
    def bmm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Compute ``torch.matmul``; DeepGen uses a Triton kernel here."""
        return torch.matmul(a, b)


def registerPreCompiledKernelByJson(path: str, deviceId: int = 0) -> int:  # noqa: N802, N803
    """Make :class:`OpProxy` use the kernels that a file names.

    They are compiled now, unless the vendor has cached them. An invalid file changes nothing.

    :returns: the number of kernels.
    :raises KcgError: the file or a name in it is invalid, or a kernel does not compile; the message
        names the entry.
    """
    dialect(deviceId)
    document = read_json(Path(path))
    _refuse_pickle(document, path)
    entries = document.get("kernels")
    if not isinstance(entries, list):
        raise KcgError(f"[kcg] {path} has no list 'kernels'")
    made = []
    for number, entry in enumerate(entries):
        where = f"{path}: kernels[{number}]"
        if not isinstance(entry, dict) or not isinstance(entry.get("kernelName"), str):
            raise KcgError(f"[kcg] {where} has no text 'kernelName'")
        if entry.get("type") != "matmul":
            raise KcgError(f"[kcg] {where} is of type {entry.get('type')!r}: only 'matmul' is")
        _refuse_pickle(entry, where)
        try:
            made.append(Gemm(config_of(entry["kernelName"]), deviceId))
        except KcgError as error:
            raise KcgError(f"{error} ({where})") from error
    for gemm in made:
        _KERNELS[deviceId, gemm.problem] = gemm
    return len(made)


def _refuse_pickle(given: dict[str, Any], where: str) -> None:
    """Check that a file, or an entry of it, names no pickle.

    :raises KcgError: it names one.
    """
    if given.get("pklpath"):
        raise KcgError(
            f"[kcg] {where}: pklpath has to be empty: pickles can execute code, and the name"
            " is sufficient"
        )


def compile_model(
    deviceId: int,  # noqa: N803
    run: Callable[[], object],
    collectInfoOnly: bool = False,  # noqa: N803
    *,
    evaluations: int = _EVALUATIONS,
    save: str | None = None,
) -> list[tuple[Problem, Measured | None]]:
    """Tune the matrix products that a model requests from :class:`OpProxy`, and use kernels that
    are faster.

    :param run: function that runs the model once.
    :param collectInfoOnly: only list the products.
    :param evaluations: number of configurations to measure for each shape.
    :param save: file for :func:`registerPreCompiledKernelByJson`, written after each shape.
    :returns: the products, most work first, each with its best kernel that was measured again; None
        if nothing was tuned, or if no kernel supports the shape.
    :raises KcgError: `run` is not callable, or the device cannot run kernels.
    """
    dialect(deviceId)
    if not callable(run):
        raise KcgError(
            f"[compile_model] {type(run).__name__} cannot be called: pass a function that runs the"
            " model, such as lambda: model(input_ids)"
        )
    if evaluations < 1:
        raise KcgError(f"[compile_model] evaluations={evaluations}: must be at least 1")
    calls: Counter[tuple[int, Problem]] = Counter()
    _COLLECTING.append(calls)
    try:
        with torch.no_grad():
            run()
    finally:
        _COLLECTING.remove(calls)
    problems = sorted(
        (problem for device, problem in calls if device == deviceId),
        key=lambda problem: -problem.operations * calls[deviceId, problem],
    )
    for problem in problems:
        LOG.info("%d x %s", calls[deviceId, problem], problem)
    if collectInfoOnly:
        return [(problem, None) for problem in problems]
    found: list[tuple[Problem, Measured | None]] = []
    for problem in problems:
        winner = _tuned(problem, deviceId, evaluations)
        found.append((problem, winner))
        LOG.info("%s: %s", problem, "no kernel supports it" if winner is None else winner.verdict)
        if winner and winner.verdict and winner.verdict.verdict is Verdict.FASTER:
            _KERNELS[deviceId, problem] = Gemm(winner.config, deviceId)
        if save is not None:
            write_json(Path(save), _registered(deviceId))
    return found


def _tuned(problem: Problem, device: int, evaluations: int) -> Measured | None:
    space = default_space(problem, dialect(device))
    if space is None:
        return None
    with Searcher(device) as searcher:
        answers = searcher.search(space, make_strategy(DEFAULT, space, seed=0), evaluations)
        right = [answer for _, _, answer in answers if isinstance(answer, Measured)]
        return next(iter(searcher.again(best(right, _FINALISTS, device))), None)


def _registered(device: int) -> dict[str, Any]:
    return {
        "kernels": [
            {"type": "matmul", "kernelName": gemm.name, "pklpath": ""}
            for (where, _), gemm in _KERNELS.items()
            if where == device
        ]
    }
