"""The error function and the logarithm of the gamma function."""

from __future__ import annotations

from dl_conformance.elementwise import as_float, erf, lgamma, unary

unary({"Erf": lambda x: erf(as_float(x)), "dlopLgamma": lambda x: lgamma(as_float(x))})
