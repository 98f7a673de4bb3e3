"""Adaptors: conversion of dtypes and memory formats for a vendor, as its ``adaptor.yaml`` requires.

docs/adaptor.md documents the file. Reading it loads neither cffi nor numpy, so that ``dl doctor``
can check one. All hosts apply its rules with the same C++ code (``dl/adaptor.h``).
"""

from __future__ import annotations

from .file import read_adaptor
from .rules import AdaptorFile, Rule

__all__ = ["AdaptorFile", "Rule", "read_adaptor"]
