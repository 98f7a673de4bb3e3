"""Models of the surrogate strategy: a forest, a Gaussian process, and a classifier of failures."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..spaces.features import Features

Values = NDArray[np.float64]
_TREES = 30
_STEPS = 15
_REFIT = 1.5
"""Growth factor of the data after which the length scales are fitted again."""


class Trees:
    """Randomized trees on bootstrap samples, which represent steps, cliffs and interactions.

    Trees are grown one by one, because scikit-learn's forest spends more time on its threads than
    on such small trees.
    """

    def __init__(self, known: Features, values: Values, seed: int) -> None:
        from sklearn.tree import ExtraTreeRegressor

        rng = np.random.default_rng(seed)
        given = known.astype(np.float32)
        self._trees = []
        for number in range(_TREES):
            chosen = rng.integers(len(values), size=len(values))
            tree = ExtraTreeRegressor(random_state=seed + number)
            tree.fit(given[chosen], values[chosen], check_input=False)
            self._trees.append(tree.tree_)

    def predict(self, asked: Features) -> Values:
        """Return the prediction of each tree, shape (trees, candidates)."""
        given = asked.astype(np.float32)
        return np.stack([tree.predict(given)[:, 0] for tree in self._trees])


class Forest:
    """Predictions of trees for candidates.

    :ivar draws: prediction of each tree, shape (trees, candidates).
    """

    def __init__(self, known: Features, values: Values, candidates: Features, seed: int) -> None:
        self.draws: Values = Trees(known, values, seed).predict(candidates)
        self.mean: Values = self.draws.mean(axis=0)
        self.spread: Values = self.draws.std(axis=0)


class Process:
    """Gaussian process with a length scale for each dimension: smooth means with uncertainties."""

    def __init__(self) -> None:
        self._kernel: Any = None
        self._learned_from = 0

    def predict(
        self, known: Features, values: Values, candidates: Features
    ) -> tuple[Values, Values]:
        """Return mean and standard deviation of candidates; `values` are standardized."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

        learn = len(values) >= _REFIT * self._learned_from
        if self._kernel is None:
            scales = Matern(np.full(known.shape[1], 0.5), (0.05, 20.0), nu=2.5)
            self._kernel = ConstantKernel(1.0, (0.1, 20.0)) * scales + WhiteKernel(
                1e-2, (1e-4, 0.3)
            )
        process = GaussianProcessRegressor(self._kernel, optimizer=_climb if learn else None)
        with warnings.catch_warnings():
            # A length scale at its bound means that the dimension does not matter: do not warn.
            warnings.simplefilter("ignore", ConvergenceWarning)
            process.fit(known, values)
        if learn:
            self._kernel, self._learned_from = process.kernel_, len(values)
        mean, deviation = process.predict(candidates, return_std=True)
        return mean, np.maximum(deviation, 1e-9)


def _climb(objective: Any, start: Values, bounds: Values) -> tuple[Values, float]:
    """Take a few steps towards the most likely scales; further ones would change no ranking."""
    from scipy.optimize import minimize

    found = minimize(
        objective, start, method="L-BFGS-B", jac=True, bounds=bounds, options={"maxiter": _STEPS}
    )
    return found.x, float(found.fun)


def chance_to_run(
    known: Features, valid: NDArray[np.bool_], candidates: Features, seed: int
) -> Values:
    """Return the probability of each candidate to be valid, 0 to 1."""
    if valid.all():
        return np.ones(len(candidates))
    return Forest(known, valid.astype(np.float64), candidates, seed).mean


def expected_improvement(mean: Values, deviation: Values, best: float) -> Values:
    """Return the expected improvement over `best`, where less is better (Jones et al., 1998)."""
    from scipy.special import ndtr

    z = (best - mean) / deviation
    density = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    improvement: Values = deviation * (z * ndtr(z) + density)
    return improvement
