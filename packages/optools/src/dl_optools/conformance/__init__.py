"""Captured calls as calls of the contract's operators, for the conformance suite."""
