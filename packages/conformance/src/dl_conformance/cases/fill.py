"""Tensors full of one number."""

from dl_conformance.vocabulary import calls

CASES = [calls("Ones Zeros", dict(size=[3, 41]), dict(size=[]), dict(size=[0, 3]))]
