"""Cases of training: a case is one example in one precision."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One example script with one dtype, and how to shorten it where every operator is timed."""

    example: str
    dtype: str
    sample: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.example}-{self.dtype}"

    @property
    def roundings(self) -> tuple[str, ...]:
        """The examples' ways to round otherwise; for bfloat16, oneDNN has no peer of its speed."""
        return ("nudged", "no-onednn") if self.dtype == "float32" else ("nudged",)

    @property
    def script(self) -> str:
        return f"examples/train_{self.example}.py"


EXAMPLES = {
    "cnn": ("--epochs", "1"),
    "encoder": ("--steps", "5"),
    "decoder": ("--steps", "5"),
}
CASES = tuple(
    Case(example, dtype, sample)
    for example, sample in EXAMPLES.items()
    for dtype in ("float32", "bfloat16")
)

# The accuracy that the whole training of the digits has to exceed, on every device.
DIGITS_ACCURACY = 0.97
# How far two curves may be apart in the first steps, relative to the loss: a few roundings of the
# dtype. Where training amplifies roundings, so that the CPU's own curve leaves these bounds when it
# rounds otherwise, dl's may leave them from the same step on, SPREAD times as far: two roundings do
# not grow alike.
EARLY_STEPS = 10
SPREAD = 4
EARLY_DISTANCE = {"float32": 1e-4, "bfloat16": 3e-2}
