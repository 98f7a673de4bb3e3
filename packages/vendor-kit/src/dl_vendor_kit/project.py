"""Creation of a vendor's project from the templates of this package.

A template is a file of ``templates/<layer>/``; a project consists of the files of several layers.
Placeholders, such as ``__chip__``, are valid identifiers, so that formatters and linters read the
templates as the sources that they become. They occur in contents and in paths.
"""

from __future__ import annotations

import keyword
import re
import shutil
import string
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path

from diopi_proto import __version__ as contract

from ._version import __version__ as kit
from .cpp_words import cpp_words

MEMORIES: Mapping[str, str] = {
    "separate": "memory that the host cannot access, and asynchronous streams",
    "shared": "memory that the host can access, and calls that return when their work is done",
}


class ProjectError(Exception):
    """A project cannot be created; the message contains the remedy."""


@dataclass(frozen=True)
class Kind:
    """A kind of project.

    :ivar help: description of the sources.
    :ivar requires: wheels of this project that building needs, with their version.
    :ivar base: template folders that it shares with other kinds, in addition to ``common``;
        ``{memory}`` stands for the memory.
    :ivar memories: the values of ``--memory`` that it supports.
    :ivar files: descriptions of its own files, for README.md.
    :ivar refusal: why it does not support the other values of ``--memory``, and what to do.
    :ivar first_step: the first of the next steps in README.md.
    :ivar test_requires: requirements of its tests.
    """

    help: str
    requires: Mapping[str, str]
    base: tuple[str, ...]
    memories: tuple[str, ...]
    files: Mapping[str, str]
    refusal: str = ""
    first_step: str = 'Replace the stand-in: everything marked "stand-in" or "Replace" in `csrc/`.'
    test_requires: tuple[str, ...] = ()

    def layers(self, name: str, memory: str) -> list[str]:
        """Return the template folders of a project, given the name of this kind."""
        base = [layer.replace("{memory}", memory) for layer in self.base]
        return ["common", *base, name, f"{name}_{memory}"]


_OPERATORS = "the operators: arguments of the contract become arguments of kernels"
_STAND_IN = ("profile", "device", "{memory}")
_OWN_KERNELS = {
    "csrc/operators.*": _OPERATORS,
    "csrc/kernels.*": "the kernels, which run on the device",
    "csrc/address.h": "addresses of device memory in kernels of the stand-in",
    "csrc/driver.*": "a stand-in for the driver, whose queues are threads",
}
KINDS: Mapping[str, Kind] = {
    "cpp": Kind(
        "C++17 with dl-vendor-kit",
        {"dl-diopi-proto": contract, "dl-vendor-kit": kit},
        _STAND_IN,
        ("separate", "shared"),
        {"csrc/vendor.*": "the vendor's class, whose methods are the slots", **_OWN_KERNELS},
    ),
    "c": Kind(
        "C11 with the contract's headers alone",
        {"dl-diopi-proto": contract},
        _STAND_IN,
        ("separate", "shared"),
        {"csrc/vendor.*": "the vendor table and its slots", **_OWN_KERNELS},
    ),
    "kernels": Kind(
        "C++17 with the operators of dl-kernels, which the chip's compiler compiles",
        {"dl-diopi-proto": contract, "dl-vendor-kit": kit, "dl-kernels": kit},
        (),
        ("shared",),
        {"csrc/vendor.cpp": "the vendor's class; setup.py lists the families of operators"},
        "the stand-in's compiler, g++, makes kernels that run on the host, which has no access to "
        "such memory; start with --memory shared and then give KernelLibrary the chip's compiler, "
        "which docs/other-compilers.md of dl-vendor-kit explains, or use --kind cpp",
    ),
    "library": Kind(
        "an operator library of the chip, whose calls library/ describes",
        {"dl-diopi-proto": contract, "dl-vendor-kit": kit},
        ("profile", "{memory}", "device"),
        ("separate",),
        {
            "library/*": "the operators as data: the library, its functions, and calls of them",
            "csrc/vendor.*": "the vendor's class, over the SDK's runtime",
            "csrc/sdk.*": "the SDK's functions, and a stand-in for it",
            "csrc/kernels.*": "kernels of the stand-in",
            "csrc/address.h": "addresses of device memory in kernels of the stand-in",
            "csrc/driver.*": "the stand-in's driver, whose queues are threads",
        },
        "an operator library computes in memory of a device; use --memory separate, or --kind cpp",
        "Replace the functions in `csrc/sdk.h` and `library/signatures.json` by the SDK functions, "
        "and name its library in `csrc/vendor.h`.",
    ),
    "opencl": Kind(
        "C++17 with dl-vendor-kit, and kernels in OpenCL C, which the device's driver compiles",
        {"dl-diopi-proto": contract, "dl-vendor-kit": kit},
        ("profile", "cpp"),
        ("separate",),
        {
            "csrc/vendor.*": "the vendor's class, whose methods are the slots",
            "csrc/operators.*": _OPERATORS,
            "csrc/kernels.cl": "the kernels, in OpenCL C; the library contains their source",
            "csrc/kernels.h": "their arguments, for both compilers",
            "csrc/opencl.h": "the functions of OpenCL, and the names of the driver",
        },
        "OpenCL's memory belongs to a device; use --memory separate, or --kind cpp",
        "Name your driver in `csrc/opencl.h`, and write kernels that suit your device in "
        "`csrc/kernels.cl`.",
        # Intel's runtime for CPUs, for machines without another driver.
        tuple(
            f"{wheel}; platform_machine == 'x86_64'"
            for wheel in ("intel-cmplr-lib-rt", "intel-opencl-rt", "tbb")
        ),
    ),
}

LONGEST_NAME = 40
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", re.ASCII)
# Their wheels need not be installed. The kit's wheel is named like a vendor's.
_OURS = frozenset(
    ["ascend", "async", "cambricon", "cpu", "cuda", "diopi", "dl", "kit", "opencl", "rocm", "torch"]
)
# Words of DL_DISABLE with another meaning.
_SETTINGS = frozenset(["all"])


class _Template(string.Template):
    # typeshed declares the compiled pattern, which Template makes of this text.
    pattern = r"""
        __(?P<named>build_requirements|chip|contract|dot|files|first_step|test_requirements|tests|wheel)__
        | (?P<braced>(?!)) | (?P<escaped>(?!)) | (?P<invalid>(?!))
    """  # type: ignore[assignment]
    flags = re.VERBOSE


def check_name(name: str) -> None:
    """Check the name of a new vendor.

    :raises ProjectError: it is not an identifier, or it is taken.
    """
    if _NAME.fullmatch(name) is None or len(name) > LONGEST_NAME:
        raise ProjectError(
            f"{name!r} cannot be a vendor's name; use up to {LONGEST_NAME} lower-case letters and "
            "digits, with single underscores between them, that begin with a letter, as in 'my_npu'"
        )
    if keyword.iskeyword(name) or keyword.issoftkeyword(name) or name in cpp_words():
        raise ProjectError(
            f"{name!r} is a reserved word of C++ or Python; add a word, as in '{name}_npu'"
        )
    if name in _SETTINGS:
        raise ProjectError(
            f"{name!r} has a meaning of its own in DL_DISABLE; add a word, as in '{name}_npu'"
        )
    if name in _OURS or name in {entry.name for entry in entry_points(group="dl")}:
        raise ProjectError(
            f"{name!r} is the name of a vendor or plugin of dl; choose another name, or uninstall "
            f"the wheel that has it if this is its successor"
        )


def render(name: str, kind: str, memory: str) -> dict[str, str]:
    """Return the files of a project: contents by path.

    :raises ProjectError: the name is invalid, or the kind does not support the memory.
    """
    check_name(name)
    chosen = KINDS[kind]
    if memory not in chosen.memories:
        raise ProjectError(f"--kind {kind} does not support --memory {memory}: {chosen.refusal}")
    values = {
        # The template is valid TOML: the placeholder is in quotes.
        "build_requirements": '", "'.join(
            f"{wheel}~={version}" for wheel, version in chosen.requires.items()
        ),
        "chip": name,
        "contract": contract,
        "dot": ".",
        "first_step": chosen.first_step,
        "test_requirements": '", "'.join(
            ("dl-conformance", "dl-core[torch,test]", *chosen.test_requires)
        ),
        "tests": "tests",
        "wheel": name.replace("_", "-"),
    }
    templates: dict[str, str] = {}
    for layer in chosen.layers(kind, memory):
        templates.update(_read_layer(layer))
    paths = {_Template(path).substitute(values) for path in templates}
    rows = [
        f"| `{pattern}` | {text} |"
        for pattern, text in chosen.files.items()
        if any(Path(path).match(pattern) for path in paths)
    ]
    values["files"] = "\n".join(rows)
    return {
        _Template(path).substitute(values): _Template(text).substitute(values)
        for path, text in sorted(templates.items())
    }


def _read_layer(layer: str) -> dict[str, str]:
    root = Path(str(files("dl_vendor_kit"))) / "templates" / layer
    found = (path for path in root.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in found}


def create(name: str, *, kind: str, memory: str, folder: Path | None = None) -> Path:
    """Create a project and return its folder.

    :param folder: None: ``dl-vendor-<name>`` in the current folder.
    :raises ProjectError: the folder exists or cannot be created, or an argument is invalid.
    """
    contents = render(name, kind, memory)
    target = folder or Path(f"dl-vendor-{name.replace('_', '-')}")
    if target.exists() or target.is_symlink():
        remedy = "choose another folder with --folder"
        if target.resolve() not in (Path.cwd(), *Path.cwd().parents):
            remedy = f"remove it, or {remedy}"
        raise ProjectError(f"{target} exists; {remedy}")
    try:
        target.absolute().parent.mkdir(parents=True, exist_ok=True)
        # A folder appears whole or not at all.
        with tempfile.TemporaryDirectory(dir=target.absolute().parent) as temporary:
            project = Path(temporary) / "project"
            for path, text in contents.items():
                file = project / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            shutil.move(project, target)
    except OSError as error:
        raise ProjectError(f"{target} cannot be created: {error.strerror or error}") from error
    return target
