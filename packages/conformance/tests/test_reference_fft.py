"""References of Fourier transforms match torch, and known identities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dl_conformance.references.fft import roots, transform
from double_precision import runs


def transforms() -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Yield name, arguments, and results of the reference."""
    for name, inputs, want in runs("dlopFft"):
        yield name, inputs.wide, want["out"]


def test_transform_is_that_of_torch() -> None:
    torch = pytest.importorskip("torch")
    for name, given, want in transforms():
        if not given["input"].size:
            continue
        numbers = torch.from_numpy(np.ascontiguousarray(given["input"].astype(np.complex128)))
        function = torch.fft.fft if given["forward"] else torch.fft.ifft
        norm = "backward" if given["forward"] else "forward"
        found = given["scale"] * function(numbers, dim=given["dim"], norm=norm).numpy()
        size = np.asarray(want.magnitude, np.float64)
        assert np.all(np.abs(found - want.value) <= 1e-15 * size * max(want.length, 4)), name


def test_transforming_back_gives_the_numbers() -> None:
    for name, given, want in transforms():
        length = given["input"].shape[given["dim"]]
        if not given["scale"] or not length:
            continue
        back = transform(
            input=want.value, dim=given["dim"], forward=not given["forward"], scale=1.0
        )["out"].value / (np.longdouble(given["scale"]) * length)
        error = np.abs(back - given["input"]).max(initial=0)
        assert error < 1e-18 * (length + 8), name


def test_magnitude_keeps_the_energy() -> None:
    """Parseval's theorem: the energy of the result is n times the energy of the input."""
    for name, given, want in transforms():
        length = given["input"].shape[given["dim"]]
        squares = [np.sum(np.abs(x) ** 2) for x in (want.value, given["input"])]
        assert np.isclose(squares[0], given["scale"] ** 2 * length * squares[1], 1e-15), name
        assert np.all(np.abs(want.value) <= (1 + 1e-17) * want.magnitude), name


def test_roots_of_unity_are_on_the_circle() -> None:
    for length in (1, 2, 3, 8, 31, 97):
        found = roots(length)
        assert np.abs(found**length - 1).max() < 1e-18 * length
        assert len({complex(np.round(x, 9)) for x in found.astype(complex)}) == length
        if length > 2:
            assert found[1].imag < 0
