"""Steps of optimizers."""

from dl_conformance.vocabulary import T, calls, refused

STEP = dict(param="7x33", grad="7x33", buf="7x33", lr=0.125, weight_decay=0.25)
LAYOUTS = ("transposed", "strided", "offset")
RATES = dict(lr=0.01, beta1=0.9, beta2=0.99, eps=1e-6, weight_decay=0.125)


def square(shape):
    return T(shape, low=0.125, high=1)


ADAM = dict(param="7x33", grad="7x33", exp_avg="7x33", exp_avg_sq=square("7x33"), **RATES)

CASES = [
    calls(
        "Sgd",
        dict(STEP, momentum=0.75, dampening=0.0, nesterov=False),
        dict(STEP, momentum=0.75, dampening=0.25, nesterov=False),
        dict(STEP, momentum=0.75, dampening=0.0, nesterov=True),
        dict(STEP, buf=None, momentum=0.0, dampening=0.0, nesterov=False),
        dict(STEP, weight_decay=0.0, momentum=0.75, dampening=0.0, nesterov=False),
        layouts=("transposed", "strided", "offset"),
    ),
    calls(
        "Adam AdamW",
        dict(ADAM, max_exp_avg_sq=None, step=3, amsgrad=False),
        dict(ADAM, max_exp_avg_sq=T("7x33", low=0.125, high=1), step=3, amsgrad=True),
        dict(ADAM, max_exp_avg_sq=None, step=1, amsgrad=False),
        dict(ADAM, weight_decay=0.0, max_exp_avg_sq=None, step=3, amsgrad=False),
        dict(ADAM, weight_decay=0.0, max_exp_avg_sq=square("7x33"), step=3, amsgrad=True),
        layouts=LAYOUTS,
    ),
    *(
        calls(
            "FusedAdamW",
            dict(
                params=["7x33", "5"],
                grads=["7x33", "5"],
                exp_avgs=["7x33", "5"],
                exp_avg_sqs=[square("7x33"), square("5")],
                max_exp_avg_sqs=[square("7x33"), square("5")] if amsgrad else None,
                state_steps=[T("-", values=[x], dtype="float32") for x in (3, 7)],
                amsgrad=amsgrad,
                maximize=maximize,
                **RATES,
            ),
            layouts=LAYOUTS,
        )
        for amsgrad, maximize in ((False, False), (True, False), (False, True))
    ),
    calls(
        "Adadelta",
        *(
            dict(
                param="7x33",
                grad="7x33",
                square_avg=square("7x33"),
                acc_delta=square("7x33"),
                lr=0.5,
                rho=0.9,
                eps=1e-6,
                weight_decay=weight_decay,
            )
            for weight_decay in (0.125, 0.0)
        ),
        layouts=LAYOUTS,
    ),
    *(
        calls(
            "Rmsprop",
            *(
                dict(
                    param="7x33",
                    grad=T("7x33", low=0.5, high=1),
                    square_avg=T("7x33", low=1, high=2),
                    grad_avg=T("7x33", low=0.125, high=0.5) if centered else None,
                    momentum_buf="7x33" if momentum else None,
                    lr=0.01,
                    alpha=0.9,
                    eps=1e-6,
                    weight_decay=weight_decay,
                    momentum=momentum,
                    centered=centered,
                )
                for weight_decay in (0.125, 0.0)
            ),
            layouts=LAYOUTS,
        )
        for centered in (False, True)
        for momentum in (0.0, 0.75)
    ),
    refused(
        "Sgd",
        dict(
            param="7x33",
            grad="7x33",
            buf="7x33",
            lr=0.125,
            weight_decay=0.25,
            momentum=0.75,
            dampening=0.0,
            nesterov=False,
        ),
        dict(param="7x33x1"),
        dict(param=T("7x33", low=0, high=1, dtype="int64")),
    ),
    refused(
        "Adam",
        dict(
            param="7x33",
            grad="7x33",
            exp_avg="7x33",
            exp_avg_sq=T("7x33", low=0.125, high=1),
            lr=0.01,
            beta1=0.9,
            beta2=0.99,
            eps=1e-06,
            weight_decay=0.125,
            max_exp_avg_sq=None,
            step=3,
            amsgrad=False,
        ),
        dict(param="7x33x1"),
        dict(amsgrad=True),
    ),
    refused(
        "AdamW",
        dict(
            param="7x33",
            grad="7x33",
            exp_avg="7x33",
            exp_avg_sq=T("7x33", low=0.125, high=1),
            lr=0.01,
            beta1=0.9,
            beta2=0.99,
            eps=1e-06,
            weight_decay=0.125,
            max_exp_avg_sq=None,
            step=3,
            amsgrad=False,
        ),
        dict(param="7x33x1"),
    ),
    refused(
        "FusedAdamW",
        dict(
            params=["7x33", "5"],
            grads=["7x33", "5"],
            exp_avgs=["7x33", "5"],
            exp_avg_sqs=[T("7x33", low=0.125, high=1), T("5", low=0.125, high=1)],
            max_exp_avg_sqs=None,
            state_steps=[T("-", values=[3], dtype="float32"), T("-", values=[7], dtype="float32")],
            amsgrad=False,
            maximize=False,
            lr=0.01,
            beta1=0.9,
            beta2=0.99,
            eps=1e-06,
            weight_decay=0.125,
        ),
        dict(params=["7x33", "5x1"]),
    ),
    refused(
        "Adadelta",
        dict(
            param="7x33",
            grad="7x33",
            square_avg=T("7x33", low=0.125, high=1),
            acc_delta=T("7x33", low=0.125, high=1),
            lr=0.5,
            rho=0.9,
            eps=1e-06,
            weight_decay=0.125,
        ),
        dict(param="7x33x1"),
    ),
    refused(
        "Rmsprop",
        dict(
            param="7x33",
            grad=T("7x33", low=0.5, high=1),
            square_avg=T("7x33", low=1, high=2),
            grad_avg=None,
            momentum_buf=None,
            lr=0.01,
            alpha=0.9,
            eps=1e-06,
            weight_decay=0.125,
            momentum=0.0,
            centered=False,
        ),
        dict(momentum=2.0),
        dict(centered=True),
    ),
]
