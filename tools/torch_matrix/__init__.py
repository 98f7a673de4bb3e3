"""Torch releases: dl-core is built for each release, and all other wheels only once.

``python -m tools.torch_matrix 2.13.0=PYTHON ...`` from the repository root. Each interpreter
belongs to an environment with the release, the build requirements of dl-core and the test
requirements. A release may be given several times, with different versions of Python.
"""
