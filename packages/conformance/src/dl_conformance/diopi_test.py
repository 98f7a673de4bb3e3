"""``python -m dl_conformance.diopi_test``: the command line of DIOPI_TEST's ``main.py``."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from diopi_proto.dtypes import DTYPES
from diopi_proto.schema import load
from diopi_proto.text import write_error, write_output

from . import command
from .models.model import all_models
from .near import format_suggestions, near_operators
from .report_file import read_report
from .selection import SelectionError

ALL = "all_ops"
_FORMS = ("", "inp", "scalar", "inpscalar", "scalarinp", "backward", "inpbackward", "out")
"""Suffixes of the operators that a name of DIOPI_TEST stands for."""
_NAMES = {
    "binarycrossentropy": ("bceloss",),
    "binarycrossentropywithlogits": ("bcewithlogits",),
    "choleskyex": ("cholesky",),
    "conv2d": ("convolution2d",),
    "conv3d": ("convolution3d",),
    "crossentropy": ("crossentropyloss",),
    "interpolate": ("upsamplelinear", "upsamplenearest"),
    "split": ("splitwithsizes",),
}
"""Functions of torch after which DIOPI_TEST names operators, without their underscores."""
_NOT_READ = {
    "html_report": "`dl conformance --html FILE` writes a page",
    "test_cases_path": "cases are computed when they run; --fname selects operators",
    "file_or_dir": "cases are computed when they run; --fname selects operators",
    "case_output_dir": "cases are computed when they run, and not written",
    "four_bytes": "the suite has cases of 32-bit integers; --filter_dtype leaves dtypes out",
    "nhwc_min_dim": "the suite has channels-last cases of 4 and 5 dimensions",
    "use_db": "reports are files: `dl conformance --json FILE`",
    "db_path": "reports are files: `dl conformance --json FILE`",
    "pytest_args": "cases run in processes of the suite's own",
    "failure_debug_level": "failures are described in full",
}
"""Options of DIOPI_TEST that are accepted and have no effect, with the reason."""
_FLAGS = frozenset(("html_report", "four_bytes", "use_db"))
_WITHOUT_WORK = {
    "gen_data": "no baseline is generated: references are computed when a case runs",
    "gen_case": "no case is generated: cases are computed when they run",
    "utest_diopi_test": "the suite's own tests are in its repository",
}


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(
        prog="python -m dl_conformance.diopi_test",
        description="The command line of DIOPI_TEST, for the conformance suite.",
    )
    modes = ("run_test", "utest", *_WITHOUT_WORK)
    add = found.add_argument
    add("--mode", choices=modes, default="run_test", help="run_test: operators; utest: runtime")
    add("--fname", default=ALL, metavar="NAME", help=f"name of an operator (default: {ALL})")
    add("--model_name", default="", metavar="NAME", help="run only the calls of this model")
    add("--get_model_list", action="store_true", help="print the models")
    add("--filter_dtype", nargs="*", default=[], metavar="DTYPE", help="dtypes to leave out")
    add("--nhwc", action="store_true", help="accepted: channels-last cases always run")
    add("--impl_folder", metavar="PATH", help="accepted and not read; see --known-failures")
    for name in _NOT_READ:
        if name in _FLAGS:
            add(f"--{name}", action="store_true", help="accepted and not read")
        else:
            add(f"--{name}", metavar="VALUE", help="accepted and not read")
    vendor = os.environ.get("DL_VENDORS", "").partition(",")[0].strip()
    add("--vendor", default=vendor, metavar="NAME", help="vendor (default: first of DL_VENDORS)")
    add("--library", metavar="PATH", help="path of a library with DIOPI symbols")
    add("--known-failures", metavar="FILE", help="file with names of cases that are known to fail")
    add("--sample", default="1", metavar="N/SEED", help="run one case in N, chosen by the seed")
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the suite; the exit status is that of ``python -m dl_conformance``."""
    given = parser().parse_args(argv)
    if given.get_model_list:
        write_output(command.models_as_text())
        return 0
    for name, reason in _NOT_READ.items():
        if getattr(given, name):
            _log(f"--{name} is not read: {reason}")
    if given.mode in _WITHOUT_WORK:
        _log(f"--mode {given.mode}: {_WITHOUT_WORK[given.mode]}")
        return 0
    if given.impl_folder:
        _log(
            f"--impl_folder {given.impl_folder} is not read: calls that a library declines are "
            "unsupported, not failures, and --known-failures FILE names cases that fail"
        )
    try:
        options = list(_options(given))
    except SelectionError as error:
        write_error(f"diopi_test: {error}\n")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        code = command.main([*options, "--json", str(report)])
        if report.exists():
            for line in _verdicts(read_report(report)):
                _log(line)
    return code


def _options(given: argparse.Namespace) -> Iterator[str]:
    """Yield the options of the suite."""
    if given.library:
        yield from ("--library", given.library)
    elif given.vendor:
        yield from ("--vendor", given.vendor)
    for dtype in given.filter_dtype:
        if dtype not in DTYPES:
            raise SelectionError(
                f"--filter_dtype {dtype}: unknown dtype; the contract has {', '.join(DTYPES)}"
            )
        yield from ("--skip-dtype", dtype)
    if given.known_failures:
        yield from ("--known-failures", given.known_failures)
    if given.model_name:
        model = model_of(given.model_name)
        if _plain(model) != _plain(given.model_name):
            _log(f"--model_name {given.model_name}: runs the calls of {model}")
        yield from ("--model", model)
    yield from ("--sample", given.sample)
    operators = ["runtime"] if given.mode == "utest" else operators_of(given.fname)
    for operator in operators:
        yield from ("--fname", operator)


def operators_of(name: str) -> list[str]:
    """Return the operators of the contract that a name of DIOPI_TEST stands for.

    :returns: an empty result stands for all operators.
    :raises SelectionError: the contract has no such operator.
    """
    if name == ALL:
        return []
    bases = _NAMES.get(_plain(name), (_short(name),))
    forms = {f"{base}{form}" for base in bases for form in _FORMS}
    found = [operator for operator in load() if _short(operator) in forms]
    if not found:
        near = format_suggestions(near_operators(name.replace("_", "")))
        raise SelectionError(f"--fname {name}: the contract has no such operator{near}")
    return found


_LISTS_MODELS = "--get_model_list prints all names"
_CLOSEST = {
    **dict.fromkeys(("atss", "fcos"), "retinanet-r50-fpn"),
    **dict.fromkeys(("cascadercnn", "fasterrcnn", "solo"), "mask-rcnn-r50-fpn"),
    **dict.fromkeys(("centernet", "dbnet", "sar"), "resnet-18"),
    **dict.fromkeys(("crnn", "repvgg"), "vgg-16"),
    **dict.fromkeys(("deeplabv3plus", "fcn", "pspnet", "upernet"), "deeplabv3-r50"),
    **dict.fromkeys(("deeppose", "hrnet", "seresnet", "slowfast", "tsn"), "resnet-50"),
    "stgcn": "",
}
"""Models of DIOPI_TEST that the suite does not have, each with the one whose layers are most alike:
its backbone, or the same kind of head."""


def model_of(name: str) -> str:
    """Return the suite's name of a model, whose given name may be spelled differently.

    A name of a family, such as densenet, stands for the first model that begins with it.

    :raises SelectionError: the suite has no such model.
    """
    wanted = _plain(name).replace("transformer", "")
    known = sorted(all_models())
    exact = [each for each in known if _plain(each) == wanted]
    found = exact or [each for each in known if _plain(each).startswith(wanted)]
    if wanted and not found:
        for missing, closest in _CLOSEST.items():
            if wanted.startswith(missing):
                similar = f"the model with the most similar layers is {closest}"
                raise SelectionError(
                    f"--model_name {name}: the suite does not have the shapes of this model of "
                    f"DIOPI_TEST; {similar if closest else 'it has no similar model'}; "
                    f"{_LISTS_MODELS}"
                )
    if not wanted or not found:
        near = format_suggestions(get_close_matches(name, known, 1))
        raise SelectionError(f"--model_name {name}: unknown model{near}; {_LISTS_MODELS}")
    return found[0]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _short(operator: str) -> str:
    return re.sub("^(?:diopi|dlop)", "", _plain(operator))


def _verdicts(report: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each operator, in the words of DIOPI_TEST."""
    statuses: dict[str, set[str]] = {}
    for case in report["cases"]:
        statuses.setdefault(case["name"].partition("[")[0], set()).add(case["status"])
    for operator, found in statuses.items():
        verdict = "succeed"
        if "failed" in found:
            verdict = "failed"
        elif "passed" not in found:
            verdict = f"skipped ({', '.join(sorted(found))})"
        yield f"Run diopi_functions.{operator} {verdict}"


def _log(text: str) -> None:
    write_output(f"DIOPI-Test - INFO - {text}\n")


if __name__ == "__main__":
    sys.exit(main())
