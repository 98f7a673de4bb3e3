"""Steps of optimizers."""

from dl_conformance.vocabulary import calls

STEP = dict(param="7x33", grad="7x33", buf="7x33", lr=0.125, weight_decay=0.25)

CASES = [
    calls(
        "Sgd",
        dict(STEP, momentum=0.75, dampening=0.0, nesterov=False),
        dict(STEP, momentum=0.75, dampening=0.25, nesterov=False),
        dict(STEP, momentum=0.75, dampening=0.0, nesterov=True),
        dict(STEP, buf=None, momentum=0.0, dampening=0.0, nesterov=False),
        layouts=("transposed", "strided", "offset"),
    ),
]
