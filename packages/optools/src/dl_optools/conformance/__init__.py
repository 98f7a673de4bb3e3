"""Conversion of captured calls to cases of the conformance suite."""
