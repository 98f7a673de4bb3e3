"""Whether a replayed call is right: against what was recorded, and against a float64 reference.

Both the recorded result and the new one are judged by the rounding bound around a reference that
the CPU computes in float64. Where there is no such reference, the two are compared directly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from diopi_proto.tolerance import OpClass, compare
from dl_optools.bundle.errors import BundleError
from dl_optools.bundle.placement import Placement
from dl_optools.bundle.reader import Bundle
from dl_optools.names import short_name
from dl_optools.relocation import WIDER
from dl_optools.replay import Outcome, is_random, run

_WIDE_ENOUGH = {torch.float64, torch.complex128}


@dataclass(frozen=True)
class PartCheck:
    """One result, written input or gradient.

    :ivar name: ``result 0``, ``written input 3``, ``gradient of input 1``.
    :ivar here: the largest error of this run in units of the bound; nan where nothing was compared.
    :ivar recorded: the same of what was recorded.
    :ivar detail: what is wrong, in words; empty if nothing is.
    """

    name: str
    here: float
    recorded: float
    detail: str = ""

    @property
    def ok(self) -> bool:
        return not self.detail


@dataclass
class CheckResult:
    """The outcome of one check.

    :ivar notes: what could not be checked, and why.
    """

    parts: list[PartCheck] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return all(part.ok for part in self.parts)


@dataclass
class _Answers:
    """The tensors of one run by their names; on the CPU."""

    tensors: dict[str, torch.Tensor]

    @classmethod
    def of(cls, bundle: Bundle, outcome: Outcome) -> _Answers:
        found = dict(zip(_names(bundle, outcome.returned), outcome.results, strict=False))
        for at, gradient in enumerate(outcome.gradients):
            if gradient is not None:
                found[f"gradient of input {at}"] = gradient
        return cls({name: _on_host(x) for name, x in found.items()})

    @classmethod
    def recorded(cls, bundle: Bundle) -> _Answers:
        document = bundle.document
        placed = Placement(bundle, torch.device("cpu"), gradients=False)
        indices = [result.tensor for result in document.results]
        found = dict(zip(_names(bundle, document.returned), indices, strict=True))
        if document.gradients is not None:
            for at, index in enumerate(document.gradients.inputs):
                if index is not None:
                    found[f"gradient of input {at}"] = index
        return cls({name: _on_host(placed.tensor(index)) for name, index in found.items()})


def _names(bundle: Bundle, returned: int) -> list[str]:
    document = bundle.document
    written = document.results[document.returned :]
    return [f"result {at}" for at in range(returned)] + [
        f"written input {result.same}" for result in written
    ]


def _on_host(tensor: torch.Tensor) -> torch.Tensor:
    host = tensor.detach().to("cpu")
    if host.layout != torch.strided:
        host = host.to_dense()
    return host.resolve_conj().resolve_neg()


def check(
    bundle: Bundle, device: torch.device | str = "cpu", *, backward: bool = True
) -> CheckResult:
    """Replay a call once and judge what came of it and what was recorded.

    :raises BundleError: nothing was recorded to compare with, or see :func:`.replay.run`.
    """
    document = bundle.document
    if document.error is not None:
        raise BundleError(
            f"[bundle] {bundle.path}: the captured call raised {document.error!r}; there is no "
            "result to compare with"
        )
    device = torch.device(device)
    found = CheckResult()
    here = _Answers.of(bundle, run(bundle, device, backward=backward)).tensors
    recorded = _Answers.recorded(bundle).tensors
    if not backward or document.gradients is None:
        recorded = {name: x for name, x in recorded.items() if not name.startswith("gradient")}
        tensors = [document.tensors[index] for index in document.inputs]
        if backward and document.context["grad"] and any(x.requires_grad for x in tensors):
            found.notes.append("no gradients were captured")
    comparable = _comparable(bundle, device, found)
    reference = _computed(bundle, backward, found) if comparable else {}
    peers = _peers(bundle, backward) if reference else {}
    for name in dict.fromkeys([*recorded, *here]):
        got, want = here.get(name), recorded.get(name)
        if got is None or want is None:
            detail = f"{name}: {'not recorded' if want is None else 'there is none here'}"
            found.parts.append(PartCheck(name, math.nan, math.nan, detail))
            continue
        if got.shape != want.shape or got.dtype != want.dtype:
            detail = f"{name}: {_kind(got)} here, {_kind(want)} recorded"
            found.parts.append(PartCheck(name, math.inf, math.nan, detail))
        elif not comparable:
            found.parts.append(PartCheck(name, math.nan, math.nan))
        else:
            terms = _terms(bundle)
            part = _judge(name, got, want, reference.get(name), peers.get(name), terms)
            found.parts.append(part)
    return found


def _comparable(bundle: Bundle, device: torch.device, found: CheckResult) -> bool:
    document = bundle.document
    # `empty`, `empty_like`, `new_empty`: what happens to be in memory.
    if "EMPTY" in short_name(document.operator):
        found.notes.append("its result is not initialised: only shape and dtype are compared")
        return False
    if is_random(bundle) and device.type != document.device:
        found.notes.append(
            f"it draws random numbers, and {device.type} draws others than {document.device}: "
            "only shapes and dtypes are compared"
        )
        return False
    return True


def _computed(bundle: Bundle, backward: bool, found: CheckResult) -> dict[str, torch.Tensor]:
    """The reference: the same call on the CPU in float64."""
    if is_random(bundle):
        found.notes.append("it draws random numbers: there is no reference in float64")
        return {}
    try:
        wide = run(bundle, "cpu", backward=backward, wider=WIDER)
    except (RuntimeError, TypeError, ValueError, NotImplementedError) as error:
        first = str(error).partition("\n")[0]
        found.notes.append(f"the CPU has no reference in float64: {first}")
        return {}
    return _Answers.of(bundle, wide).tensors


def _peers(bundle: Bundle, backward: bool) -> dict[str, torch.Tensor]:
    try:
        return _Answers.of(bundle, run(bundle, "cpu", backward=backward)).tensors
    except (RuntimeError, TypeError, ValueError, NotImplementedError):
        return {}


def _terms(bundle: Bundle) -> int:
    """No sum over a row of an argument has more terms."""
    shapes = [bundle.document.tensors[index].shape for index in bundle.document.inputs]
    rows = [math.prod(shape[1:]) for shape in shapes]
    return max([1, *rows, *(size for shape in shapes for size in shape)])


def _judge(
    name: str,
    got: torch.Tensor,
    recorded: torch.Tensor,
    reference: torch.Tensor | None,
    peer: torch.Tensor | None,
    terms: int,
) -> PartCheck:
    exact = not (got.is_floating_point() or got.is_complex())
    wide = torch.complex128 if got.is_complex() else torch.float64
    if (
        reference is None
        or reference.shape != got.shape
        or (reference.dtype != (got.dtype if exact else wide))
    ):
        units, detail = _against(name, got, recorded if exact else recorded.to(wide), None, terms)
        return PartCheck(name, units, math.nan, detail)
    if peer is not None and (peer.shape != got.shape or peer.dtype != got.dtype):
        peer = None
    here, wrong_here = _against(f"{name} here", got, reference, peer, terms)
    then, wrong_then = _against(f"{name} as recorded", recorded, reference, peer, terms)
    return PartCheck(name, here, then, "\n".join(filter(None, (wrong_here, wrong_then))))


def _against(
    name: str,
    got: torch.Tensor,
    reference: torch.Tensor,
    peer: torch.Tensor | None,
    terms: int,
) -> tuple[float, str]:
    """The error in units of the bound, and what is wrong."""
    if got.numel() == 0:
        return 0.0, ""
    exact = not (got.is_floating_point() or got.is_complex())
    try:
        outcome = compare(
            _array(got),
            _array(reference),
            dtype=str(got.dtype).removeprefix("torch."),
            op_class=OpClass.EXACT if exact else OpClass.MATMUL,
            reduction_length=terms,
            magnitude=None if exact else _largest(reference),
            peer=None if peer is None or exact else _array(peer),
        )
    except TypeError:
        # A dtype that the bound does not know.
        equal = got.view(torch.uint8).equal(reference.to(got.dtype).view(torch.uint8))
        return (0.0, "") if equal else (math.inf, f"{name}: differs")
    return outcome.ratio, "" if outcome.ok else outcome.report(name)


def _largest(tensor: torch.Tensor) -> float:
    """The largest modulus of a finite element: small ones may be what is left of larger ones."""
    sizes = tensor.abs()
    return float(sizes[sizes.isfinite()].max()) if sizes.isfinite().any() else 0.0


def _array(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.to(torch.float32)
    elif tensor.dtype == torch.complex32:
        tensor = tensor.to(torch.complex64)
    found: np.ndarray[Any, Any] = tensor.numpy()
    return found


def _kind(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
