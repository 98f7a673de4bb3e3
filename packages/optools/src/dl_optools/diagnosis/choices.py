"""Distribution of ``multinomial``: rows of categories, drawn with or without replacement."""

from __future__ import annotations

import torch

from dl_optools.diagnosis.distributions import Distribution

Tensor = torch.Tensor
MOST = 1 << 22
"""Maximum number of weights read for a call without replacement: each draw reads its row again."""


class Categories:
    """Samples of rows of weights; see :class:`~.distributions.Distribution`.

    The draws are ``[rows, samples]``.

    Without replacement each draw follows the weights of the remaining categories, from left to
    right, as torch documents it.

    :param weights: ``[rows, categories]``, nonnegative.
    """

    def __init__(self, weights: Tensor, replacement: bool) -> None:
        wide = weights.double()
        self.weights = wide / wide.sum(-1, keepdim=True)
        self.replacement = replacement
        rows, count = weights.shape
        how = "with" if replacement else "without"
        self.text = f"{count} categories {how} replacement"
        self.text += f" in {rows} rows" if rows > 1 else ""

    @property
    def is_defined(self) -> bool:
        return bool(self.weights.isfinite().all())

    @property
    def varies(self) -> bool:
        return bool(((self.weights > 0).sum(-1) > 1).any())

    def first(self, rows: int) -> Distribution:
        # Draws from a single row of weights have no row dimension.
        return (
            self if self.weights.size(0) == 1 else Categories(self.weights[:rows], self.replacement)
        )

    def outside(self, values: Tensor) -> str:
        own = self.weights
        table = values.reshape(own.size(0), -1)
        count = own.size(1)
        if table.numel() and (int(table.min()) < 0 or int(table.max()) >= count):
            return f"draws for {self.text} are not all in [0, {count})"
        never = int((own.gather(1, table) == 0).sum())
        if never:
            return f"{never} of {table.numel()} draws for {self.text} have the weight 0"
        if not self.replacement and table.size(1) > 1:
            ordered = table.sort(1).values
            again = int((ordered[:, 1:] == ordered[:, :-1]).any(1).sum())
            if again:
                return f"{again} rows of draws for {self.text} hold a category twice"
        return ""

    def uniforms(self, values: Tensor, noise: Tensor) -> Tensor:
        own = self.weights
        table = values.reshape(own.size(0), -1)
        if self.replacement:
            found = _transformed(own, table, noise.reshape(table.shape))
            return found.view(values.shape)
        left = own.clone()
        columns = []
        # Every draw reads all weights of its row again.
        for at in range(min(table.size(1), max(1, MOST // max(own.numel(), 1)))):
            column = table[:, at : at + 1]
            columns.append(_transformed(left, column, noise.reshape(table.shape)[:, at : at + 1]))
            left.scatter_(1, column, 0.0)
        return torch.cat(columns, 1)

    def cells(self, values: Tensor) -> Tensor:
        return torch.zeros(values.shape, dtype=torch.float64)

    def entropy(self, shape: torch.Size) -> Tensor:
        count = shape[-1] if shape else 1
        own = -torch.log2(self.weights.square().sum(-1, keepdim=True))
        if not self.replacement:
            # Later draws may have only one category left.
            own = own / max(count, 1)
        return own.expand(own.size(0), count).reshape(shape)


def _transformed(weights: Tensor, table: Tensor, noise: Tensor) -> Tensor:
    """Transform draws of categories, given unnormalised weights of the rows."""
    sums = weights.cumsum(-1)
    own, upto = weights.gather(1, table), sums.gather(1, table)
    total = sums[:, -1:]
    return (upto - own * (1 - noise)) / torch.where(total > 0, total, 1.0)
