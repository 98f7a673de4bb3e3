"""Comparison of one operator's draws over the calls of a program."""

from __future__ import annotations

import hashlib
import math

import torch

from dl_optools.diagnosis.independence import CERTAIN_BITS, FEWEST, SIGMAS

Tensor = torch.Tensor
BINS = 64
FALSE_ALARM = 1e-12
"""Probability that the draws of a correct operator fail the test of their distribution."""
SPREAD = 0.8
"""Variance of ``s * s`` for scores s of uniform numbers: 144 / 80 - 1."""


class DrawHistory:
    """Sums over the scores of calls, and the generator state that each draw came from.

    A call that starts at a state where no call ended restarts the sums: a program that sets its
    seed draws the same numbers twice, which is not a sample of twice the size.
    """

    def __init__(self) -> None:
        self._seen: dict[bytes, tuple[bytes, int]] = {}
        self._runs: dict[str, tuple[bytes, bytes, float]] = {}
        self._last: tuple[bytes, int, Tensor] | None = None
        self.restart()

    def restart(self) -> None:
        """Restart the sums."""
        self._count = 0
        self._mean = self._spread = self._slack = 0.0
        self._bins = torch.zeros(BINS, dtype=torch.float64)

    def describe_repetition(
        self, values: Tensor, entropy: Tensor, state: bytes, number: int
    ) -> str:
        """Describe earlier calls that drew the same from other states of the generator.

        Small draws may be equal by chance, but not at every call.
        """
        bits = float(entropy.sum())
        kind = f"{values.dtype} {tuple(values.shape)}"
        key = hashlib.blake2b(kind.encode(), digest_size=16)
        key.update(values.contiguous().flatten().view(torch.uint8).numpy().tobytes())
        drawn = key.digest()
        last, before, run = self._runs.get(kind, (b"", state, 0.0))
        run = run + bits if last == drawn and before != state else 0.0
        self._runs[kind] = (drawn, state, run)
        if bits < 2 * CERTAIN_BITS:
            few = run < 2 * CERTAIN_BITS
            return "" if few else "every call draws the same, from different generator states"
        before, first = self._seen.setdefault(drawn, (state, number))
        if before == state:
            return ""
        return f"call {first} drew the same numbers from another state of the generator"

    def describe_dependence(self, scores: Tensor, state: bytes, number: int) -> str:
        """Describe a dependence of the draws on those of the operator's previous call."""
        last, self._last = self._last, (state, number, scores.flatten())
        if last is None or last[0] == state:
            return ""
        count = min(last[2].numel(), scores.numel())
        if count < FEWEST:
            return ""
        found = float(last[2][:count].dot(self._last[2][:count])) / math.sqrt(count)
        if abs(found) <= SIGMAS:
            return ""
        share = found / math.sqrt(count)
        return f"draws depend on those of call {last[1]}: their correlation is {share:.3g}"

    def add(self, uniforms: Tensor, slack: float) -> str:
        """Add a call's transformed draws, and test all draws so far.

        :param slack: how far the rounding of the draws may shift the distribution.
        """
        u = uniforms.flatten()
        scores = (u - 0.5) * math.sqrt(12)
        self._count += u.numel()
        self._mean += float(scores.sum())
        self._spread += float((scores.square() - 1).sum())
        self._slack += slack * u.numel()
        self._bins += torch.histc(u, BINS, 0.0, 1.0)
        return describe_misfit(self._count, self._mean, self._spread, self._slack, self._bins)


def describe_misfit(count: int, mean: float, spread: float, slack: float, bins: Tensor) -> str:
    """Describe how transformed draws deviate from a uniform distribution: mean, spread, CDF.

    The distribution function by the Dvoretzky-Kiefer-Wolfowitz inequality (Massart, The tight
    constant in the Dvoretzky-Kiefer-Wolfowitz inequality, Annals of Probability 18, 1990).

    :param mean: sum of the scores.
    :param spread: sum of the scores' squares less 1.
    :param slack: sum of the calls' slacks.
    :param bins: number of uniform numbers in each of several equal bins.
    """
    if count < FEWEST:
        return ""
    error = math.sqrt(count)
    off = max(abs(mean) - 4 * slack, 0) / error
    if off > SIGMAS:
        return f"their mean is {off:.3g} standard errors off"
    off = max(abs(spread) - 12 * slack, 0) / (error * math.sqrt(SPREAD))
    if off > SIGMAS:
        return f"their spread is {off:.3g} standard errors off"
    edges = torch.arange(1, BINS + 1, dtype=torch.float64) / BINS
    distance = float((bins.cumsum(0) / count - edges).abs().max())
    allowed = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * count)) + 2 * slack / count
    if distance <= allowed:
        return ""
    return f"their distribution function is {distance:.3g} off, allowed is {allowed:.3g}"
