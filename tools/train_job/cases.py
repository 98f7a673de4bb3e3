"""Training cases: one example in one precision each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One example script with one dtype, and options for a short run with timed operators."""

    example: str
    dtype: str
    sample: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.example}-{self.dtype}"

    @property
    def roundings(self) -> tuple[str, ...]:
        """Return the examples' alternative roundings; bfloat16 without oneDNN would be too slow."""
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

# Minimum accuracy of the complete training on the digits, on every device.
DIGITS_ACCURACY = 0.97
# Maximum distance of two loss curves in the first steps, relative to the loss: a few rounding
# errors of the dtype. If training amplifies rounding errors, so that the CPU's own curve exceeds
# these limits with other roundings, dl's curve may exceed them from the same step on, by a factor
# of SPREAD: two rounding errors do not grow alike.
EARLY_STEPS = 10
SPREAD = 4
EARLY_DISTANCE = {"float32": 1e-4, "bfloat16": 3e-2}
