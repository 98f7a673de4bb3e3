"""N vendors + M torch releases: dl-core built for each release, all other wheels built once.

``python -m tools.torch_matrix 2.13.0=PYTHON ...`` from the repository root. Each interpreter is
that of an environment that holds the release, what builds dl-core and what runs the tests.
"""
