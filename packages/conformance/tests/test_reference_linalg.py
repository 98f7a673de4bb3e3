"""References of factorizations and solvers match torch, identities, and numerical derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dl_conformance.case import T
from dl_conformance.reference import Unspecified
from dl_conformance.references.linalg_qr import errors, householder
from dl_conformance.triangles import adjoint, cholesky, solve, triangle
from double_precision import double, runs, value

STEP = np.longdouble(2) ** -24


def close(got: Any, want: Any, name: str) -> None:
    dtype = np.complex128 if value(want).dtype.kind == "c" else np.float64
    np.testing.assert_allclose(
        np.asarray(got), value(want).astype(dtype), rtol=1e-12, atol=1e-12, err_msg=name
    )


def test_cholesky_is_that_of_torch() -> None:
    torch = pytest.importorskip("torch")
    for name, inputs, want in runs("diopiCholesky"):
        factor, info = torch.linalg.cholesky_ex(
            double(inputs.wide["mat"]), upper=inputs.wide["upper"], check_errors=False
        )
        assert np.array_equal(value(want["info"]), info.numpy()), name
        if not isinstance(want["out"], Unspecified):
            close(factor, want["out"], name)


def test_cholesky_gradient_is_the_hermitian_part_of_that_of_torch() -> None:
    torch = pytest.importorskip("torch")
    for name, inputs, _ in runs("diopiCholeskyBackward"):
        upper = inputs.wide["upper"]
        factor = triangle(inputs.wide["L"], upper)
        # The diagonal of a Cholesky factor is real, as torch's is.
        at = np.arange(factor.shape[-1])
        factor[..., at, at] = np.abs(factor[..., at, at].real)
        lower = adjoint(factor) if upper else factor
        mat = double(lower @ adjoint(lower)).requires_grad_()
        torch.linalg.cholesky(mat, upper=upper).backward(double(inputs.wide["grad_output"]))
        inputs.wide["L"] = factor
        got = mat.grad.numpy()
        close((got + adjoint(got)) / 2, inputs.expected()["grad_mat"], name)


def test_cholesky_gradient_is_the_slope() -> None:
    """Yield a direction for the real and imaginary part of each element of a Hermitian matrix."""
    for name, inputs, _ in runs("diopiCholeskyBackward"):
        upper = inputs.wide["upper"]
        lower = triangle(adjoint(inputs.wide["L"]) if upper else inputs.wide["L"], upper=False)
        if lower.shape != (4, 4):
            continue
        at = np.arange(4)
        lower[at, at] = np.abs(lower[at, at].real)
        inputs.wide["L"] = adjoint(lower) if upper else lower
        grad = value(inputs.expected()["grad_mat"])
        weight = inputs.wide["grad_output"]
        mat = lower @ adjoint(lower)
        for i, j in np.ndindex(4, 4):
            for part in (1, 1j) if lower.dtype.kind == "c" else (1,):
                if j > i or (part == 1j and i == j):
                    continue
                moved = np.zeros_like(mat)
                moved[i, j] = part
                moved[j, i] = np.conj(part)
                ends = [cholesky(mat + sign * STEP * moved)[0] for sign in (1, -1)]
                change = (ends[0] - ends[1]) / (2 * STEP)
                change = adjoint(change) if upper else change
                slope = np.sum(np.conj(weight) * change).real
                assert abs(np.sum(np.conj(grad) * moved).real - slope) < 1e-8, name


@pytest.mark.filterwarnings("ignore:torch.triangular_solve is deprecated")
def test_triangular_solve_and_its_gradient_are_those_of_torch() -> None:
    torch = pytest.importorskip("torch")
    for name, inputs, want in runs("diopiTriangularSolve"):
        flags = [inputs.wide[x] for x in ("upper", "transpose", "unitriangular")]
        if not hasattr(torch, "triangular_solve"):
            pytest.skip("this torch has no triangular_solve")
        found, copy = torch.triangular_solve(
            double(inputs.wide["b"]), double(inputs.wide["mat"]), *flags
        )
        close(found, want["out"], name)
        close(copy, want["cloned_mat"], name)
    for name, inputs, want in runs("diopiTriangularSolveBackward"):
        flags = [inputs.wide[x] for x in ("upper", "transpose", "unitriangular")]
        b, mat = (double(inputs.wide[x]).requires_grad_() for x in ("b", "mat"))
        results = torch.triangular_solve(b, mat, *flags)
        total = 0 * b.abs().sum() + 0 * mat.abs().sum()
        for result, key in zip(results, ("grad_x", "grad_cloned_mat"), strict=True):
            if inputs.wide[key] is not None:
                total = total + (result * double(inputs.wide[key]).conj()).real.sum()
        total.backward()
        for tensor, key in ((b, "grad_b"), (mat, "grad_mat")):
            if key in want:
                close(tensor.grad, want[key], name)


def test_triangular_solve_solves() -> None:
    for name, inputs, want in runs("diopiTriangularSolve"):
        upper, transpose = inputs.wide["upper"], inputs.wide["transpose"]
        system = triangle(inputs.wide["mat"], upper, inputs.wide["unitriangular"])
        system = np.swapaxes(system, -1, -2) if transpose else system
        left = system @ value(want["out"])
        assert np.abs(left - inputs.wide["b"]).max(initial=0) < 1e-15, name


def test_qr_is_that_of_torch() -> None:
    torch = pytest.importorskip("torch")
    for name, inputs, want in runs("diopiLinalgQR"):
        found = torch.linalg.qr(double(inputs.wide["A"]), mode=inputs.wide["mode"])
        close(found.R, want["R"], name)
        if "Q" in want:
            close(found.Q, want["Q"], name)


def test_qr_is_a_factorization() -> None:
    for name, inputs, want in runs("diopiLinalgQR"):
        if "Q" not in want:
            continue
        q, r = value(want["Q"]), value(want["R"])
        assert np.abs(q @ r - inputs.wide["A"]).max(initial=0) < 1e-16, name
        assert np.abs(adjoint(q) @ q - np.eye(q.shape[-1])).max(initial=0) < 1e-17, name
        assert np.array_equal(np.triu(r), r), name


@pytest.mark.parametrize(
    "operator",
    ["diopiCholesky", "diopiCholeskyBackward", "diopiTriangularSolve", "diopiLinalgQR"],
)
def test_bounds_are_small(operator: str) -> None:
    """Error bounds stay below 2 % of the largest element in float32."""
    for name, _, want in runs(operator):
        for key, output in want.items():
            if isinstance(output, Unspecified) or key == "info" or not value(output).size:
                continue
            magnitude = np.abs(value(output)) if output.magnitude is None else output.magnitude
            terms = (np.max(output.length) + 4) * (3 if value(output).dtype.kind == "c" else 1)
            bound = terms * 2.0**-24 * np.max(np.abs(magnitude))
            assert bound < 0.02 * max(np.abs(value(output)).max(), 1), f"{name}: {key}: {bound}"


SMALL = np.longdouble(2) ** -30


def noise(key: str, like: Any) -> Any:
    """Return random numbers in [-1, 1]."""
    shape = "x".join(map(str, like.shape))
    dtype = "complex128" if like.dtype.kind == "c" else "float64"
    return T(shape, low=-0.7, high=0.7).elements(key, dtype, "").astype(like.dtype)


def test_magnitude_of_a_solution_bounds_the_effect_of_matrix_errors() -> None:
    for name, inputs, want in runs("diopiTriangularSolve"):
        if inputs.wide["transpose"] or inputs.wide["unitriangular"] or not value(want["out"]).size:
            continue
        upper = inputs.wide["upper"]
        system = triangle(inputs.wide["mat"], upper)
        moved = system * (1 + noise(name, system) * SMALL)
        change = solve(moved, inputs.wide["b"], upper) - value(want["out"])
        assert np.all(np.abs(change) <= 1.001 * want["out"].magnitude * SMALL), name


def test_magnitude_of_a_factor_bounds_the_effect_of_matrix_errors() -> None:
    for name, inputs, want in runs("diopiCholesky"):
        if isinstance(want["out"], Unspecified) or inputs.wide["upper"]:
            continue
        lower = value(want["out"])
        mat = lower @ adjoint(lower)
        size = np.abs(lower) @ np.abs(adjoint(lower))
        error = noise(name, mat)
        error = np.tril(error, -1) + np.tril(error, 0).real * np.eye(mat.shape[-1])
        change = cholesky(mat + error * size * SMALL)[0] - cholesky(mat)[0]
        assert np.all(np.abs(change) <= 1.001 * want["out"].magnitude * SMALL + 1e-17), name


def test_magnitudes_of_qr_bound_the_effect_of_column_errors() -> None:
    for name, inputs, _ in runs("diopiLinalgQR"):
        mat = inputs.wide["A"]
        if mat.ndim != 2 or not mat.size:
            continue
        q, r = householder(mat)
        of_q, of_r = errors(mat, q, r)
        error = noise(name, mat)
        norms = (np.sqrt(np.sum(np.abs(x) ** 2, axis=0)) for x in (mat, error))
        error = error * SMALL * np.divide(*norms)
        moved_q, moved_r = householder(mat + error)
        reflectors = 6 * min(mat.shape)
        assert np.all(np.abs(moved_q - q) * reflectors <= 1.001 * of_q * SMALL + 1e-16), name
        assert np.all(np.abs(moved_r - r) * reflectors <= 1.001 * of_r * SMALL + 1e-16), name
