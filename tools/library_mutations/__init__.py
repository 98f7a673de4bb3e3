"""Mutation test of the data of library vendors: which stage notices a wrong description.

A mutation changes one operator in ``operators/*.yaml``: arguments are exchanged or dropped, a
helper, a condition, a number, a dtype or the order of calls is wrong. The stages are the generator,
and the conformance suite on the vendor's fake library.
"""
