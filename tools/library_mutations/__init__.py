"""Mutation test of the data of library vendors: which stage notices a wrong description.

A mutation changes one operator in ``operators/*.yaml``: arguments are exchanged or dropped, a
helper, a condition, a number, a dtype or the order of calls is wrong; or it changes a fact about a
function that the operator calls: its dtypes, or whether it takes strides. The stages are the
generator, and the conformance suite on the vendor's fake library.

``equivalent/vendor-NAME.yaml`` lists mutations that change nothing, with the reason. They are not
drawn.
"""
