"""Verdict on a call's results: equal to the CPU's in the same dtype, or within the rounding bound.

The bound is computed by :mod:`diopi_proto.tolerance`; it is not configurable.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

from diopi_proto.tolerance import OpClass
from diopi_proto.tolerance.torch_operators.comparison import (
    OutputComparison,
    compare_tensors,
    compare_values,
    dtype_name,
    same_values,
    to_host,
)
from diopi_proto.tolerance.torch_operators.conditioning import Slopes, linear_magnitudes, magnitudes
from diopi_proto.tolerance.torch_operators.op_classes import Rule, indices_match_values, rule_for
from diopi_proto.tolerance.torch_operators.tensors import tensors_of
from dl_core.torch_backend.modes.reference import SAME, WIDE, Answers, Copied, clone_tree

SHORT = 0.99
"""Factor for magnitudes that were computed in float32; it ensures that they are never too large."""


class NotComparableError(Exception):
    """The CPU has no result to compare with; the message says why."""


class Verdict:
    """The comparison of one call. The CPU computes its results when they are first needed.

    :param got: the device's results and written arguments, copied to the host.
    """

    def __init__(self, copied: Copied, got: Answers) -> None:
        self._copied = copied
        self._got = got

    def wrong(self) -> list[OutputComparison]:
        """Return the differences.

        :raises NotComparableError: the CPU does not support the call.
        """
        if self._peer is None and self._wide is None:
            raise NotComparableError(self._refusal)
        parts = [self._part(at) for at in range(len(self._got))]
        return [part for part in parts if part is not None and not part.ok]

    def _part(self, at: int) -> OutputComparison | None:
        label, got = self._got[at]
        peer, wide = self._answer(self._peer, at), self._answer(self._wide, at)
        want = peer if wide is None else wide
        if not isinstance(got, torch.Tensor) or not isinstance(want, torch.Tensor):
            return compare_values(label, got, peer if peer is not None else want)
        position = int(label.split()[1]) if label.startswith("output ") and "[" not in label else -1
        args, kwargs = self._copied.arguments
        rule = rule_for(self._copied.overload, args, kwargs, got, position)
        if not rule.judged:
            return None
        return self._tensor(at, label, got, want, peer, rule)

    def _tensor(
        self,
        at: int,
        label: str,
        got: torch.Tensor,
        want: torch.Tensor,
        peer: torch.Tensor | None,
        rule: Rule,
    ) -> OutputComparison | None:
        if peer is not None:
            if same_values(got, peer):
                return None
            if peer.dtype != got.dtype and at == 0:
                said = f"dtype is {dtype_name(got.dtype)}, want {dtype_name(peer.dtype)}"
                return OutputComparison(label, False, detail=f"{label}: {said}")
            if peer.dtype != got.dtype or peer.shape != got.shape:
                peer = None
        found = compare_tensors(label, got, want, rule, None, peer)
        if found.ok or self._leads_there(at, got):
            return None
        if rule.op_class is OpClass.EXACT or want.dtype == got.dtype:
            return found
        sizes = self._linear if rule.linear else self._perturbed
        size = sizes[at] if at < len(sizes) else None
        if size is None or size.shape != got.shape:
            return found
        return compare_tensors(label, got, want, rule, size, peer)

    def _leads_there(self, at: int, got: torch.Tensor) -> bool:
        """Return True if these are indices of equal values, so that any of them is correct."""
        if at == 0 or got.dtype != torch.int64:
            return False
        values = self._got[at - 1][1]
        args, kwargs = self._copied.arguments
        return isinstance(values, torch.Tensor) and indices_match_values(
            self._copied.overload, args, kwargs, values, got
        )

    def _answer(self, answers: Answers | None, at: int) -> Any:
        if answers is None or at >= len(answers):
            return None
        value = answers[at][1]
        return to_host(value) if isinstance(value, torch.Tensor) else value

    # Results of the CPU

    _refusal = ""

    def _answers(self, dtypes: Any) -> Answers | None:
        try:
            return self._copied.run(dtypes)
        except Exception as error:  # noqa: BLE001 - without a CPU result there is no reference
            text = str(error).splitlines()[0] if str(error) else ""
            self._refusal = f"{type(error).__name__}: {text}"[:200]
            return None

    @functools.cached_property
    def _peer(self) -> Answers | None:
        return self._answers(SAME)

    @functools.cached_property
    def _wide(self) -> Answers | None:
        return self._answers(WIDE)

    def _run(self, tree: Any) -> list[Any]:
        args, kwargs = clone_tree(tree, SAME)
        returned = self._copied.overload(*args, **kwargs)
        from dl_core.torch_backend.modes.reference import answers

        return [value for _, value in answers(self._copied.facts, args, kwargs, returned)]

    @functools.cached_property
    def _linear(self) -> Slopes:
        try:
            found = linear_magnitudes(self._run, self._copied.arguments)
        except Exception:  # noqa: BLE001 - then the reference's absolute value is used
            return []
        return [None if x is None else x.double().mul_(SHORT) for x in found]

    @functools.cached_property
    def _perturbed(self) -> Slopes:
        def copy() -> tuple[Any, list[torch.Tensor]]:
            tree = clone_tree(self._copied.arguments, WIDE)
            unique = {id(x): x for x in tensors_of(*tree)}
            return tree, list(unique.values())

        try:
            return magnitudes(self._run, copy, self._run(copy()[0]))
        except Exception:  # noqa: BLE001 - as above
            return []
