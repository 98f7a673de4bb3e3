"""Matrix products as code to run on a vendor, and the calls of a fake library."""

from __future__ import annotations

from pathlib import Path

PRELUDE = """
    rng = np.random.default_rng(0)
    def numbers(*shape, dtype="float32"):
        return rng.integers(-4, 5, shape).astype(dtype)
    def mm(a, b, dtype="float32"):
        out = vendor.empty((*a.shape[:-1], b.shape[-1]), dtype)
        vendor.op.Matmul(out, vendor.tensor(a), vendor.tensor(b))
        return out.numpy()
"""

# Factors rounded to TF32, and the error bound of a sum of products in float32.
ROUNDED = """
    from diopi_proto.host.hosttable import default_host
    host = default_host()
    def rounded(x):
        bits = (x.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
        return bits.view(np.float32).astype(np.float64)
    def judge(a, b, tf32):
        host.tf32_products = tf32
        got = mm(a, b)
        host.tf32_products = False
        x, y = a.astype(np.float64), b.astype(np.float64)
        bound = 1e-6 * (abs(x) @ abs(y)) + 1e-6
        is_exact = (abs(got - x @ y) <= bound).all()
        is_rounded = (abs(got - rounded(a) @ rounded(b)) <= bound).all()
        assert (is_exact, is_rounded) == (not tf32, tf32), (is_exact, is_rounded)
        assert (abs(got - x @ y) <= 2.0**-10 * (abs(x) @ abs(y)) + 1e-6).all()
    def draw(*shape):
        return rng.standard_normal(shape, dtype=np.float32)
"""


class Calls(dict[str, str]):
    """Variables of a run, and the library calls in it, which a fake library logs.

    :param calls: variable with the path of the log file.
    :param runs: functions that compute.
    """

    def __init__(self, calls: str, *runs: str, **variables: str) -> None:
        super().__init__(variables)
        self._calls, self._runs = calls, runs

    @property
    def calls(self) -> list[str]:
        path = Path(self[self._calls])
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    @property
    def done(self) -> list[str]:
        """The logged arguments of the functions that compute."""
        named = (call.partition(" ") for call in self.calls)
        return [output for name, _, output in named if name in self._runs]
