"""What a surrogate is made of: a forest, a smooth process, and a judge of what does not run."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..spaces.features import Features

Values = NDArray[np.float64]
_TREES = 30
_REFIT = 1.3
"""The process learns its scales anew when there is this much more to learn from."""


class Forest:
    """Randomised trees, each of its own sample: steps, cliffs and interactions.

    :ivar draws: what each tree predicts, shape (trees, candidates).
    """

    def __init__(self, known: Features, values: Values, candidates: Features, seed: int) -> None:
        from sklearn.ensemble import ExtraTreesRegressor

        forest = ExtraTreesRegressor(_TREES, bootstrap=True, random_state=seed)
        forest.fit(known, values)
        # Past the forest's own `predict`, whose checks and threads take longer than the trees.
        rows = np.ascontiguousarray(candidates, dtype=np.float32)
        self.draws = np.stack([e.tree_.predict(rows)[:, 0] for e in forest.estimators_])
        self.mean: Values = self.draws.mean(axis=0)
        self.spread: Values = self.draws.std(axis=0)


class Process:
    """A Gaussian process with a length scale for each dimension: what is smooth, and how sure."""

    def __init__(self) -> None:
        self._kernel: Any = None
        self._learned_from = 0

    def predict(
        self, known: Features, values: Values, candidates: Features
    ) -> tuple[Values, Values]:
        """Mean and standard deviation of candidates; `values` are standardised."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

        learn = len(values) >= _REFIT * self._learned_from
        if self._kernel is None:
            scales = Matern(np.full(known.shape[1], 0.5), (0.05, 20.0), nu=2.5)
            self._kernel = ConstantKernel(1.0, (0.1, 20.0)) * scales + WhiteKernel(
                1e-2, (1e-4, 0.3)
            )
        process = GaussianProcessRegressor(
            self._kernel, optimizer="fmin_l_bfgs_b" if learn else None
        )
        with warnings.catch_warnings():
            # A scale at its bound is a dimension that does not matter: nothing to warn of.
            warnings.simplefilter("ignore", ConvergenceWarning)
            process.fit(known, values)
        if learn:
            self._kernel, self._learned_from = process.kernel_, len(values)
        mean, deviation = process.predict(candidates, return_std=True)
        return mean, np.maximum(deviation, 1e-9)


def chance_to_run(
    known: Features, valid: NDArray[np.bool_], candidates: Features, seed: int
) -> Values:
    """How likely candidates are to be valid, 0 to 1."""
    from sklearn.ensemble import ExtraTreesRegressor

    if valid.all():
        return np.ones(len(candidates))
    forest = ExtraTreesRegressor(_TREES, random_state=seed).fit(known, valid.astype(np.float64))
    rows = np.ascontiguousarray(candidates, dtype=np.float32)
    chances: Values = np.mean([e.tree_.predict(rows)[:, 0] for e in forest.estimators_], axis=0)
    return chances


def expected_improvement(mean: Values, deviation: Values, best: float) -> Values:
    """How much better than `best` a candidate is expected to be, where less is better."""
    from scipy.special import ndtr

    z = (best - mean) / deviation
    density = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    improvement: Values = deviation * (z * ndtr(z) + density)
    return improvement
