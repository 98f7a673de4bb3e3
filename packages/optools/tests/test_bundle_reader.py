"""Damaged and hostile bundles: refused with a clear error, nothing executed."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bundle_cases import captured, files, forge, rehash
from dl_optools.bundle import BundleError, find, read
from dl_optools.bundle.payload import header, path_of

Document = dict[str, Any]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("original")
    weight = torch.randn(2, 3, requires_grad=True)
    x = torch.randn(4, 3)
    captured(lambda: torch.nn.functional.linear(x, weight).sum().backward(), directory)
    return directory


@pytest.fixture
def directory(original: Path, tmp_path: Path) -> Path:
    """A capture of two calls that the test may damage."""
    return Path(shutil.copytree(original, tmp_path / "capture"))


@pytest.fixture
def bundle(directory: Path) -> Path:
    return find(directory)[0]


def test_a_bundle_reads_from_its_directory_and_its_file(bundle: Path) -> None:
    assert read(bundle).document.operator == "torch.nn.functional.linear"
    assert read(bundle / "bundle.json").document == read(bundle).document


def test_a_missing_bundle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"there is no bundle\.json"):
        read(tmp_path)


def test_a_payload_that_is_a_folder_or_a_pipe_is_refused(directory: Path, bundle: Path) -> None:
    stored = [path for path in (directory / "store").rglob("*") if path.is_file()]
    for make in (os.mkdir, os.mkfifo):
        for path in stored:
            path.rmdir() if path.is_dir() else path.unlink()
            make(path)
        with pytest.raises(BundleError, match="not a regular file"):
            read(bundle)


def test_a_missing_payload_is_refused(directory: Path, bundle: Path) -> None:
    shutil.rmtree(directory / "store")
    with pytest.raises(BundleError, match="missing"):
        read(bundle)


def test_a_truncated_payload_is_refused(directory: Path, bundle: Path) -> None:
    for path in files(directory / "store"):
        path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(BundleError, match="damaged"):
        read(bundle)


def test_a_longer_payload_is_refused(directory: Path, bundle: Path) -> None:
    for path in files(directory / "store"):
        path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(BundleError, match="damaged"):
        read(bundle)


def test_a_payload_with_other_bytes_is_refused(directory: Path, bundle: Path) -> None:
    for path in files(directory / "store"):
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
    with pytest.raises(BundleError, match="does not match its hash"):
        read(bundle)


@pytest.mark.parametrize("target", ["/etc/passwd", "/dev/zero", "/dev/stdin"])
def test_links_out_of_the_store_are_refused(directory: Path, bundle: Path, target: str) -> None:
    for path in files(directory / "store"):
        path.unlink()
        path.symlink_to(target)
    with pytest.raises(BundleError, match="cannot be read"):
        read(bundle)


def test_a_pipe_in_the_store_is_refused_without_waiting(directory: Path, bundle: Path) -> None:
    for path in files(directory / "store"):
        path.unlink()
        os.mkfifo(path)
    with pytest.raises(BundleError, match="not a regular file"):
        read(bundle)


def test_a_linked_document_is_refused(bundle: Path, tmp_path: Path) -> None:
    (bundle / "bundle.json").rename(tmp_path / "elsewhere")
    (bundle / "bundle.json").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BundleError, match=r"bundle\.json cannot be read: it is a symbolic link"):
        read(bundle)


class Bomb:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (str(self.path),)


def test_a_pickle_is_refused_and_not_loaded(directory: Path, bundle: Path, tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    (bundle / "bundle.json").write_bytes(pickle.dumps(Bomb(mark)))
    with pytest.raises(BundleError):
        read(bundle)
    for path in files(directory / "store"):
        path.write_bytes(pickle.dumps(Bomb(mark)))
    with pytest.raises(BundleError):
        read(find(directory)[1])
    assert not mark.exists()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("[]", "not an object"),
        ("{}", "no 'format'"),
        ('{"format": "other"}', "not a bundle"),
        ('{"format": "dl-op-bundle", "version": 2}', "version 2"),
        ('{"format": "dl-op-bundle", "format": 1}', "duplicate key"),
        ('{"format": NaN}', "NaN"),
        ('{"format": 1' + "0" * 10000 + "}", "not JSON"),
        ("[" * 200_000, "deep"),
        ('{"a":' * 200_000, "deep"),
        ("\x00\xff", "not text"),
    ],
    ids=range(11),
)
def test_files_that_are_not_bundles_are_refused(bundle: Path, text: str, reason: str) -> None:
    (bundle / "bundle.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(BundleError, match=reason):
        read(bundle)


def test_a_changed_document_is_refused(bundle: Path) -> None:
    path = bundle / "bundle.json"
    path.write_text(path.read_text().replace("linear", "bilinear"))
    with pytest.raises(BundleError, match="the file was changed"):
        read(bundle)


def test_other_white_space_is_a_change(bundle: Path) -> None:
    path = bundle / "bundle.json"
    path.write_text(path.read_text() + " ")
    with pytest.raises(BundleError, match="the file was changed"):
        read(bundle)


def operator_is(name: str, level: str) -> Callable[[Document], None]:
    return lambda d: d.update(operator=name, level=level)


def tensor_is(**fields: Any) -> Callable[[Document], None]:
    return lambda d: d["tensors"][0].update(fields)


def piece_is(**fields: Any) -> Callable[[Document], None]:
    return lambda d: d["storages"][0]["pieces"][0].update(fields)


HOSTILE: dict[str, tuple[Callable[[Document], None], str]] = {
    "os.system": (operator_is("os.system", "api"), "not an operator"),
    "eval": (operator_is("builtins.eval", "api"), "not an operator"),
    "torch.load": (operator_is("torch.load", "api"), "not an operator"),
    "apply_": (operator_is("torch.Tensor.apply_", "api"), "not an operator"),
    "setstate": (operator_is("torch.Tensor.__setstate__", "api"), "not an operator"),
    "unknown overload": (operator_is("aten.no_such.default", "dispatch"), "not an operator"),
    "from_file": (operator_is("aten.from_file.default", "dispatch"), "not an operator"),
    "TorchScript save": (operator_is("aten.save.default", "dispatch"), "not an operator"),
    "level": (operator_is("torch.add", "kernel"), "not a level"),
    "unknown field": (lambda d: d.update(exec="x"), "unknown field"),
    "missing field": (lambda d: d.pop("kwargs"), "has no 'kwargs'"),
    "path for a hash": (piece_is(hash="../../../../etc/passwd"), "not a SHA-256"),
    "upper case hash": (piece_is(hash="A" * 64), "not a SHA-256"),
    "negative offset": (tensor_is(offset=-4), "not a number from 0"),
    "large offset": (tensor_is(offset=1), "reaches"),
    "negative stride": (tensor_is(stride=[3, -1]), "not a number from 0"),
    "large stride": (tensor_is(stride=[4, 1]), "reaches"),
    "fewer strides": (tensor_is(stride=[1]), "has 2 sizes"),
    "large shape": (tensor_is(shape=[5, 3]), "reaches"),
    "overflowing shape": (tensor_is(shape=[2**62, 2**62], stride=[2**62, 2**62]), "reaches"),
    "huge expanded": (tensor_is(shape=[2**40, 3], stride=[0, 1]), "the limit is"),
    "huge number": (tensor_is(shape=[2**70, 3]), "not a number from 0"),
    "float size": (tensor_is(shape=[4.0, 3]), "not a number from 0"),
    "bool size": (tensor_is(shape=[True, 3]), "not a number from 0"),
    "many dimensions": (tensor_is(shape=[1] * 100, stride=[1] * 100), "at most 64"),
    "other dtype": (tensor_is(dtype="float64"), "reaches"),
    "no dtype": (tensor_is(dtype="nn"), "no dtype"),
    "gradient of int": (tensor_is(dtype="int32", requires_grad=True), "no gradient"),
    "no storage": (tensor_is(storage=99), "must be less than"),
    "layout": (tensor_is(layout="_mkldnn"), "layout"),
    "device": (tensor_is(device="dl:$(id)"), "does not name a device"),
    "piece outside": (piece_is(offset=1), "outside"),
    "piece of no size": (piece_is(itemsize=3), "describes no memory"),
    "huge storage": (lambda d: d["storages"][0].update(nbytes=2**60), "its pieces end"),
    "larger storage than file": (
        lambda d: d["storages"][0].update(
            nbytes=4096, pieces=[{**d["storages"][0]["pieces"][0], "shape": [1024]}]
        ),
        "damaged",
    ),
    "no such tensor": (lambda d: d.update(args={"tuple": [{"tensor": 99}]}), "must be less than"),
    "arguments": (lambda d: d.update(args=[1]), "not a tuple"),
    "argument's name": (lambda d: d.update(kwargs={"dict": [[1, 2]]}), "not a string"),
    "input": (lambda d: d.update(inputs=[99]), "must be less than"),
    "result": (lambda d: d["results"][0].update(tensor=99), "must be less than"),
    "written": (lambda d: d.update(returned=0), "not an input"),
    "gradients": (lambda d: d["gradients"].update(inputs=[]), "one gradient for each"),
    "context": (lambda d: d["context"].update(default_dtype="system"), "no dtype"),
    "autocast": (lambda d: d["context"].update(autocast={"cpu": "load"}), "no dtype"),
    "stack": (lambda d: d["program"].update(stack=[{"file": 1}]), "not of type str"),
    "software": (lambda d: d.update(software={"torch": 2}), "software"),
}


@pytest.mark.parametrize(("change", "reason"), HOSTILE.values(), ids=HOSTILE.keys())
def test_forged_documents_are_refused(
    bundle: Path, change: Callable[[Document], None], reason: str
) -> None:
    forge(bundle, change)
    with pytest.raises(BundleError, match=reason):
        read(bundle)


def test_sparse_parts_must_be_dense(bundle: Path) -> None:
    def change(document: Document) -> None:
        document["tensors"][0] = {
            "layout": "sparse_coo",
            "dtype": "float32",
            "shape": [2],
            "device": "cpu",
            "requires_grad": False,
            "leaf": True,
            "parts": {"indices": 0, "values": 0},
            "coalesced": True,
        }

    forge(bundle, change)
    with pytest.raises(BundleError, match="not a dense tensor"):
        read(bundle)


def test_the_caller_limits_memory(bundle: Path) -> None:
    read(bundle, limit=10_000)
    with pytest.raises(BundleError, match="the limit is 100"):
        read(bundle, limit=100)


def test_a_payload_of_another_name_does_not_pass(directory: Path, bundle: Path) -> None:
    """The content of a payload must match the hash in its file name."""
    digest = json.loads((bundle / "bundle.json").read_text())["storages"][0]["pieces"][0]["hash"]
    path = path_of(directory / "store", digest)
    nbytes = path.stat().st_size - len(header(48))
    path.write_bytes(header(nbytes) + bytes(nbytes))
    with pytest.raises(BundleError, match="does not match its hash"):
        read(bundle)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_every_flipped_byte_and_every_cut_is_noticed(bundle: Path, data: st.DataObject) -> None:
    store = bundle.parent.parent / "store"
    document = json.loads((bundle / "bundle.json").read_text())
    names = {piece["hash"] for storage in document["storages"] for piece in storage["pieces"]}
    path = data.draw(
        st.sampled_from([bundle / "bundle.json", *(path_of(store, x) for x in sorted(names))])
    )
    content = path.read_bytes()
    at = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        flipped = content[at] ^ data.draw(st.integers(1, 255))
        spoiled = content[:at] + bytes([flipped]) + content[at + 1 :]
    else:
        spoiled = content[:at]
    path.write_bytes(spoiled)
    try:
        with pytest.raises(BundleError):
            read(bundle)
    finally:
        path.write_bytes(content)
    read(bundle)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_any_forged_value_is_understood_or_refused(bundle: Path, data: st.DataObject) -> None:
    """The hash is valid, so only the checks of the content protect torch from the forged value."""
    path = bundle / "bundle.json"
    content = path.read_text()
    document = json.loads(content)
    place: Any = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], (dict, list)) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(
        st.none()
        | st.booleans()
        | st.integers(-(2**65), 2**65)
        | st.text(max_size=8)
        | st.lists(st.integers(-2, 2**40), max_size=4)
        | st.dictionaries(st.text(max_size=4), st.integers(), max_size=2)
    )
    rehash(path, document)
    try:
        read(bundle, limit=1 << 20)
    except BundleError:
        pass
    finally:
        path.write_text(content)
