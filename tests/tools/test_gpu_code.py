"""Analysis of machine code: listings, hot paths, files, and the verdict on a report."""

from __future__ import annotations

import dataclasses
import json
import struct
from pathlib import Path
from typing import Any

import pytest

from tools.gpu_code.cubin import Kernel, Resources, kernel_names, launch_bounds
from tools.gpu_code.figures import Figures, best, figures
from tools.gpu_code.listing import Instruction, blocks, functions
from tools.gpu_code.ours import entries, spills
from tools.gpu_code.pairs import Pair, pairs, short
from tools.gpu_code.paths import HotPath, Unit, hot_path, multiply_adds
from tools.gpu_code.report import Comparison, changes, markdown, problems

ROOT = Path(__file__).parents[2]
STORED = Unit("stored", 4)
RESOURCES = Resources(32, 0, 0, 256)
TEXT = """
	code for sm_90
		Function : _Z4copyPfPKfi
	.headerflags	@"EF_CUDA_SM90"
        /*0000*/                   S2R R0, SR_TID.X ;                    /* 0x0000000000007919 */
                                                                         /* 0x000e220000002100 */
"""


def listing(*lines: str) -> list[Instruction]:
    """Return a listing with these instructions at the addresses 0x0, 0x10, …"""
    text = "Function : f\n"
    for k, line in enumerate(lines):
        text += f"        /*{16 * k:04x}*/   {line} ;    /* 0x0 */\n"
    ((_, found),) = functions(text.splitlines())
    return found


def path_of(*lines: str, unit: Unit = STORED) -> HotPath:
    path = hot_path(blocks(listing(*lines)), unit)
    assert path is not None
    return path


LOOP = (
    "S2R R0, SR_TID.X",
    "@P1 EXIT",
    "@P0 IMAD.WIDE.U32 R2, R0, 0x10, R8",
    "@P0 LDG.E.128 R4, desc[UR4][R2.64]",
    "FADD R4, R4, R4",
    "STG.E.128 desc[UR4][R2.64], R4",
    "ISETP.GE.U32.AND P1, PT, R0, R7, PT",
    "@!P1 BRA 0x20",
    "EXIT",
)


def test_a_listing_is_read() -> None:
    ((name, (instruction,)),) = functions(TEXT.splitlines())
    assert name == "_Z4copyPfPKfi"
    assert instruction == Instruction(0, "", "S2R", "R0, SR_TID.X")
    load = listing("@!UP2 LDG.E.128.CONSTANT R4, desc[UR4][R2.64]")[0]
    assert (load.predicate, load.name, load.bytes) == ("!UP2", "LDG", 16)
    widths = {"LDG.E": 4, "LDG.E.U8": 1, "STG.E.U16": 2, "LDG.E.64": 8, "STG.E.128": 16}
    assert {x: listing(f"{x} R0, R1")[0].bytes for x in widths} == widths


def test_wrong_listings_are_refused() -> None:
    with pytest.raises(ValueError, match="belongs to no function"):
        list(functions(["        /*0000*/   EXIT ;"]))
    with pytest.raises(ValueError, match="f has no instructions"):
        list(functions(["Function : f", "Function : g", "        /*0000*/   EXIT ;"]))
    with pytest.raises(ValueError, match="at 0x0 leaves the function"):
        blocks(listing("BRA 0x40", "EXIT"))
    with pytest.raises(ValueError, match="has no address"):
        blocks(listing("BRA R2", "EXIT"))


def test_the_hot_path_of_a_loop_is_the_loop() -> None:
    path = path_of(*LOOP)
    assert path.loop
    assert [x.name for x in path.instructions] == [
        "IMAD", "LDG", "FADD", "STG", "ISETP", "BRA",
    ]  # fmt: skip
    assert (path.elements, path.per_element) == (4, 1.5)
    assert (path.widest(("LDG",)), path.widest(("STL",))) == (16, 0)


def test_without_a_loop_it_goes_from_the_entry_to_an_end() -> None:
    straight = path_of(*LOOP[:6], "EXIT")
    assert not straight.loop
    assert straight.per_element == 7 / 4


def test_a_tail_of_single_elements_is_no_hot_path() -> None:
    path = path_of(
        "@P0 BRA 0x30",
        "@P1 STG.E desc[UR4][R2.64], R4",
        "EXIT",
        "LDG.E.128 R4, desc[UR4][R2.64]",
        "MUFU.EX2 R4, R4",
        "STG.E.128 desc[UR4][R2.64], R4",
        "EXIT",
    )
    assert [x.name for x in path.instructions] == ["BRA", "LDG", "MUFU", "STG", "EXIT"]
    # A path that skips elements out of range looks cheap, but processes no elements.
    skips = path_of(
        "@P0 BRA 0x20", "MUFU.EX2 R4, R4", "@P1 STG.E desc[UR4][R2.64], R4",
        "STG.E desc[UR4][R2.64], R5", "EXIT",
    )  # fmt: skip
    assert skips.elements == 1


def test_of_a_branch_the_cheaper_side_is_taken() -> None:
    path = path_of(
        "@P0 BRA 0x30",
        "CALL.REL.NOINC 0x60",
        "MUFU.RCP R1, R1",
        "STG.E desc[UR4][R2.64], R4",
        "BRA.U UP0, 0x60",
        "EXIT",
        "EXIT",
    )
    assert [x.name for x in path.instructions] == ["BRA", "STG", "BRA", "EXIT"]


def test_functions_without_elements_have_no_hot_path() -> None:
    assert hot_path(blocks(listing("S2R R0, SR_TID.X", "EXIT")), STORED) is None
    assert hot_path(blocks(listing("BRA 0x0", "STG.E.128 [R2], R4", "EXIT")), STORED) is None
    with pytest.raises(ValueError, match="no unit is called 'moved'"):
        hot_path(blocks(listing("EXIT")), Unit("moved"))


def test_units_tell_elements() -> None:
    both = (
        "LDG.E.64 R4, [R2]",
        "STG.E.128 [R2], R4",
        "RED.E.ADD.F32 [R2], R4",
        "FFMA R1, R2, R3, R4",
    )
    amounts = {
        what: path_of(*both, "EXIT", unit=Unit(what)).elements for what in ("stored", "loaded")
    }
    assert amounts == {"stored": 16, "loaded": 8}
    assert path_of(*both, "EXIT", unit=Unit("added")).elements == 1
    assert path_of(*both, "EXIT", unit=Unit("multiply-adds", 2)).elements == 0.5


@pytest.mark.parametrize(
    ("opcode", "amount"),
    [
        ("FFMA.FTZ", 1),
        ("HFMA2", 2),
        ("HFMA2.MMA", 0),  # a move
        ("HMMA.16816.F32.BF16", 64),
        ("HMMA.1688.F32.TF32", 32),
        ("IMMA.16832.S8.S8", 128),
        ("HGMMA.64x128x16.F32", 1024),
        ("MUFU.EX2", 0),
    ],
)
def test_multiply_adds_of_a_thread(opcode: str, amount: int) -> None:
    assert multiply_adds(listing(f"{opcode} R0, R1, R2, R3")[0]) == amount


def test_a_shape_that_is_not_known_is_reported() -> None:
    for opcode in ("HMMA.999.F32", "HGMMA.F32"):
        with pytest.raises(ValueError, match="is not known"):
            multiply_adds(listing(f"{opcode} R0, R1, R2, R3")[0])


def test_occupancy_follows_the_scarcest_resource() -> None:
    assert Resources(32, 0, 0, 256).occupancy == 1
    assert Resources(40, 0, 0, 256).occupancy == 0.75
    assert Resources(255, 0, 0, 256).occupancy == 0.125
    assert Resources(32, 0, 100 * 1024, 256).occupancy == 0.25


def elf(sections: dict[str, bytes]) -> bytes:
    """Return an ELF file with these sections, and the table of their names."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in [*sections, ".shstrtab"])
    contents = [*sections.values(), names]
    offset, heads, body, at = 64, b"", b"", 1
    for name, content in zip([*sections, ".shstrtab"], contents, strict=True):
        heads += struct.pack("<IIQQQQIIQQ", at, 1, 0, 0, offset, len(content), 0, 0, 0, 0)
        at += len(name) + 1
        offset += len(content)
        body += content
    header = b"\x7fELF\x02".ljust(40, b"\0") + struct.pack("<Q", offset)
    header += struct.pack("<IHHHHHH", 0, 64, 0, 0, 64, len(contents), len(contents) - 1)
    return header.ljust(64, b"\0") + body + heads


def test_a_file_of_machine_code_tells_its_kernels(tmp_path: Path) -> None:
    information = struct.pack("<BBHIII", 4, 5, 12, 128, 2, 1) + struct.pack("<BBH", 3, 0x1B, 255)
    file = tmp_path / "a.cubin"
    file.write_bytes(elf({".text._Z1kv": b"code", ".nv.info._Z1kv": information, ".data": b""}))
    assert kernel_names(file) == ["_Z1kv"]
    assert launch_bounds(file) == {"_Z1kv": 256}
    file.write_bytes(b"no machine code")
    with pytest.raises(ValueError, match="not a 64-bit ELF file"):
        kernel_names(file)


def test_what_compilers_say_is_read(tmp_path: Path) -> None:
    code = tmp_path / "a.ptx"
    code.write_text(".visible .entry _Z1av(\n)\n.func _Z1fv()\n.weak .entry _Z1bv(\n", "utf-8")
    assert entries(code) == ["_Z1av", "_Z1bv"]
    said = """ptxas info    : Function properties for _Z1av
    8 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Function properties for _Z1bv
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
"""
    assert spills(said) == {"_Z1av": 20}


def test_figures_are_those_of_the_hot_path() -> None:
    kernel = Kernel("f", listing(*LOOP), dataclasses.replace(RESOURCES, registers=40))
    found = figures(kernel, "f<float>", STORED)
    assert found is not None
    assert (found.load, found.store, found.per_element, found.local) == (16, 16, 1.5, 0)
    assert (found.registers, found.occupancy, found.loop) == (40, 0.75, True)
    assert figures(Kernel("f", listing("EXIT"), RESOURCES), "f", STORED) is None
    narrow = dataclasses.replace(found, load=4, store=4, per_element=1.0)
    assert best([narrow, found], STORED) is found
    assert best([narrow, found], Unit("multiply-adds")) is narrow
    assert best([], STORED) is None


def row(pair: Pair, **changed: Any) -> Comparison:
    ours = Figures("k", 32, 0, 0, 0, 1.0, 16, 16, 4.0, 8.0, True, 0).json()
    return Comparison(pair, {**ours, **changed}, {**ours, "per_element": 5.0}, ours)


def first_pair(**changed: Any) -> Pair:
    return dataclasses.replace(pairs()[0], **changed)


def test_spills_and_narrow_accesses_fail() -> None:
    pair = first_pair(dtype="float32")
    assert problems([row(pair)], {}) == []
    assert problems([row(pair)], {"k": 8}) == ["k spills 8 bytes"]
    (narrow,) = problems([row(pair, load=8, store=4)], {})
    assert narrow == "add float32: widest access: 8 bytes; expected: 16"
    half = dataclasses.replace(pair, dtype="float16")
    assert problems([row(half, load=8, store=8)], {}) == []
    (local,) = problems([row(pair, local=2)], {})
    assert "2 accesses of local memory" in local
    (missing,) = problems([Comparison(pair, None, None, None)], {})
    assert "no kernel of ours matches" in missing
    assert problems([row(first_pair(kind="softmax"), load=4, store=4)], {}) == []


def test_changes_are_reported() -> None:
    pair = first_pair()
    rows = [row(pair)]
    assert changes(rows, {}) == [f"{pair.key}: new"]
    assert changes(rows, {pair.key: {"per_element": 4.0}}) == []
    (better,) = changes(rows, {pair.key: {"per_element": 8.0}})
    assert better.endswith("better, 8 -> 4 instructions an element")
    assert "worse" in changes(rows, {pair.key: {"per_element": 3.0}})[0]


def test_the_report_has_ratios() -> None:
    text = markdown([row(first_pair())], {"torch": "2.0+cu1", "nvcc": "13.0"}, 0)
    assert "| elementwise | 1 | 0.80 | 0.80 |" in text
    assert "CUDA wheel of torch 2.0" in text


def test_pairs_are_apart_and_of_all_classes() -> None:
    keys = [pair.key for pair in pairs()]
    assert len(keys) == len(set(keys)) >= 40
    assert short("void dl::kernels::v1::gpu::k<at::native::(anonymous namespace)::F>") == "k<F>"


def test_torchs_figures_are_there_for_every_pair() -> None:
    data = json.loads((ROOT / "packages/kernels/docs/gpu-code-torch.json").read_text("utf-8"))
    assert {pair.key for pair in pairs()} <= set(data["kernels"])
