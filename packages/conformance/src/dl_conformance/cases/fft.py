"""Discrete Fourier transforms."""

from dl_conformance.vocabulary import T, calls

# Powers of two, composite lengths, small primes with direct kernels, and large primes.
LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 25, 31, 32, 37, 45, 64, 97, 128, 210, 211, 256)


def numbers(shape: str) -> T:
    return T(shape, low=-1, high=1)


CASES = [
    calls(
        "dlopFft",
        dict(input=numbers("3x8x5"), dim=1, forward=True, scale=1.0),
        dict(input=numbers("3x8x5"), dim=1, forward=False, scale=0.125),
        dict(input=numbers("6x5"), dim=0, forward=True, scale=1.0),
        dict(input=numbers("6x74"), dim=-1, forward=False, scale=1.0),
        dict(input=numbers("2x3x4x6"), dim=-3, forward=True, scale=-2.0),
        dict(input=numbers("4"), dim=0, forward=True, scale=0.0),
        dict(input=T("6", values=[1, 0, 0, 0, 0, 0]), dim=0, forward=True, scale=1.0),
        dict(input=T("41", values=[0, 1] + 39 * [0]), dim=0, forward=False, scale=1.0),
        dict(input="0x4", dim=1, forward=True, scale=1.0),
        dict(input="4x0", dim=1, forward=True, scale=1.0),
        *(dict(input=numbers(f"2x{n}"), dim=1, forward=n % 2 == 0, scale=1.0) for n in LENGTHS),
    ),
]
