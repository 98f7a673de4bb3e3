"""Orthogonal polynomials with a tensor of degrees."""

from dl_conformance.vocabulary import Calls, T, calls, refused

CHEBYSHEV = " ".join(f"dlopChebyshevPolynomial{letter}" for letter in "TUVW")
SHIFTED = " ".join(f"dlopShiftedChebyshevPolynomial{letter}" for letter in "TUVW")
HERMITE = "dlopHermitePolynomialH dlopHermitePolynomialHe"
LEGENDRE, LAGUERRE = "dlopLegendrePolynomialP", "dlopLaguerrePolynomialL"
PAIRS = (("3x17", "3x17"), ("3x17", "17"), ("5", "5"), ("-", "-"), ("0x3", "0x3"), ("4x1", "1x5"))
DEGREES = [0.0, 1.0, 2.0, 5.0, 8.0, 13.0, 2.5, -1.0, -0.5]


def polynomials(operators: str, low: float, high: float) -> Calls:
    each = [
        dict(input=T(x, low=low, high=high), n=T(n, values=DEGREES, plain=True)) for x, n in PAIRS
    ]
    ends = T("7x1", values=[low, high, (low + high) / 2, 0.0, 0.25, 1.0, float("nan")])
    return calls(operators, *each, dict(input=ends, n=T("10", values=[*DEGREES, float("nan")])))


CASES = [
    polynomials(CHEBYSHEV, -1.25, 1.25),
    polynomials(SHIFTED, -0.125, 1.125),
    polynomials(HERMITE, -2.0, 2.0),
    polynomials(LEGENDRE, -1.25, 1.25),
    polynomials(LAGUERRE, -1.0, 4.0),
    refused(
        "dlopChebyshevPolynomialT",
        dict(input=T("3x17", low=-1.25, high=1.25), n=T("3x17", plain=True)),
        dict(input=T("3x17x1", low=-1.25, high=1.25)),
        dict(input=T("3", low=-1.25, high=1.25)),
        dict(input=T("3x17", low=0, high=1, dtype="int64")),
    ),
    refused(
        "dlopChebyshevPolynomialU dlopChebyshevPolynomialV dlopChebyshevPolynomialW "
        "dlopLegendrePolynomialP",
        dict(input=T("3x17", low=-1.25, high=1.25), n=T("3x17", plain=True)),
        dict(input=T("3x17x1", low=-1.25, high=1.25)),
    ),
    refused(
        "dlopShiftedChebyshevPolynomialT dlopShiftedChebyshevPolynomialU "
        "dlopShiftedChebyshevPolynomialV dlopShiftedChebyshevPolynomialW",
        dict(input=T("3x17", low=-0.125, high=1.125), n=T("3x17", plain=True)),
        dict(input=T("3x17x1", low=-0.125, high=1.125)),
    ),
    refused(
        "dlopHermitePolynomialH dlopHermitePolynomialHe",
        dict(input=T("3x17", low=-2.0, high=2.0), n=T("3x17", plain=True)),
        dict(input=T("3x17x1", low=-2.0, high=2.0)),
    ),
    refused(
        "dlopLaguerrePolynomialL",
        dict(input=T("3x17", low=-1.0, high=4.0), n=T("3x17", plain=True)),
        dict(input=T("3x17x1", low=-1.0, high=4.0)),
    ),
]
