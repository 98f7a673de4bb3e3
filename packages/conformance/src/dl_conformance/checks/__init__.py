"""Checks of a library's runtime functions: one module for each subject.

A check is a function of a vendor. It returns if the behavior is right, raises
:class:`.check.WrongError` if it is wrong, and :class:`.check.SkipError` if the vendor does not
support the feature.
"""
