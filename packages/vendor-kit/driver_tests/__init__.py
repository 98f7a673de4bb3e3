"""Shared tests of vendors with a driver like CUDA's."""
