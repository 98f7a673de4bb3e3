"""Tests of torch on the dl device: OpInfo, device-generic tests, model families.

``pytest --pyargs dl_torch_tests`` runs them on dl:0, whichever vendor serves it.
"""

__version__ = "0.1.0"
