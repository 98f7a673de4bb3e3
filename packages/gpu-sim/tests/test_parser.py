# ruff: noqa: E501 - programs in PTX stand as they are.
"""Invalid PTX gives an error that names the line, and never crashes."""

from __future__ import annotations

import random
import resource

import numpy as np
import pytest

from conftest import HEADER, kernel
from dl_gpu_sim import LaunchError, Module, PtxError

WRONG = {
    "": "version is missing",
    "hello": "not a supported directive",
    ".version x\n": "a version",
    ".version 8.0\n.target foo\n": "an architecture like sm_80",
    HEADER + ".global .u64 g = 99999999999999999999;": "does not fit into 64 bits",
    HEADER + ".visible .entry k( { ret; }": "not a supported directive",
    HEADER + ".visible .entry k() { ret; ": "has no end",
    HEADER + ".visible .entry k() { ret }": "'}' is not an operand",
    HEADER + ".visible .entry k() .magic { ret; }": "not an attribute",
    HEADER + ".visible .entry k() { .reg .b7 %r; }": "registers of type",
    HEADER + ".visible .entry k() { .reg .b32 %r<9999999>; }": "too many registers",
    HEADER + ".visible .entry k() { .reg .b32 %r; .reg .b32 %r; }": "declared twice",
    HEADER + ".visible .entry k() { L: L: ret; }": "twice",
    HEADER + ".visible .entry k() { ret; } .visible .entry k() { ret; }": "defined twice",
    HEADER + ".global .align 3 .b8 g[4];": "power of two",
    HEADER + ".global .b8 g[99999999999];": "invalid size",
    HEADER + ".global .b8 g[1] = {1, 2};": "too many values",
    HEADER + ".global .u64 g = nothing;": "not defined",
    HEADER + "/* ": "unterminated comment",
    ".version 8.0\n.target sm_80\n.address_size 32\n": "address_size 64",
}

UNSUPPORTED = {
    "nonsense.b32 %r1, %r2;": "unknown opcode",
    "add.u32.magic %r1, %r2, %r3;": "unsupported modifier '.magic'",
    "add %r1, %r2, %r3;": "a type is missing",
    "add.u32 %r1, %r2;": "2 operands were given; expected 3",
    "add.u32 %r1, %r2, %r3, %r4;": "4 operands were given; expected 3",
    "add.u32 %rd1, %r2, %r3;": "'%rd1' has the wrong size",
    "add.u32 %r1, %r99, %r3;": "'%r99'",
    "add.u32 7, %r2, %r3;": "must be a register",
    "bra NOWHERE;": "unknown label",
    "ld.global.v3.u32 {%r1,%r2,%r3}, [%rd1];": "'.v3'",
    "ld.global.u32 %r1, %rd1;": "an address",
    "cvt.s32.f32 %r1, %f1;": "it needs one of",
    "call missing;": "unknown function 'missing'",
    "mov.u32 %r1, %nonsense;": "neither a declared nor a special register",
    "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [t, {%f1,%f2}];": "unknown opcode",
}


def test_a_pragma_ends_where_it_ends() -> None:
    with Module(kernel("").replace(".visible", '.pragma "nounroll"; .visible')) as module:
        assert list(module.kernels) == ["k"]


def test_braces_of_values_may_not_go_on_for_ever() -> None:
    nested = ".global .u32 x[1] = " + "{" * 200_000 + "1" + "}" * 200_000 + ";"
    with pytest.raises(PtxError, match="initial values are nested in more than 64 braces"):
        Module(kernel("", before=nested))


def test_directives_need_no_space() -> None:
    # As in cuda_fp16.h.
    body = "{.reg.b32 f,g;.shared.align 16.b8 s[4];\nmov.b32 f,7;add.u32 g,f,1;st.global.u32 [%rd1],g;}"
    array = np.zeros(1, np.uint32)
    with Module(kernel("ld.param.u64 %rd1, [a];" + body, ".param.u64 a")) as module:
        assert module.launch("k", 1, 1, [array]).findings == ()
    assert array[0] == 8


@pytest.mark.parametrize(
    ("opcode", "operands"),
    [
        ("atom.add.relaxed.gpu.s32", "%r1, [%rd1], 2"),
        ("atom.add.release.gpu.u32", "%r1, [%rd1], 2"),
        ("atom.global.gpu.acq_rel.add.u32", "%r1, [%rd1], 2"),
        ("atom.global.add.acquire.sys.u32", "%r1, [%rd1], 2"),
        ("atom.acq_rel.cta.global.add.u32", "%r1, [%rd1], 2"),
        ("atom.cas.acquire.gpu.b32", "%r1, [%rd1], 5, 7"),
        ("atom.global.cta.relaxed.exch.b32", "%r1, [%rd1], 7"),
        ("red.add.release.gpu.global.u32", "[%rd1], 2"),
        ("red.global.gpu.relaxed.add.u32", "[%rd1], 2"),
        ("st.global.release.gpu.u32", "[%rd1], 7"),
        ("st.release.cta.global.u32", "[%rd1], 7"),
        ("st.relaxed.global.sys.L1::no_allocate.u32", "[%rd1], 7"),
    ],
)
def test_words_of_order_and_scope_stand_anywhere(opcode: str, operands: str) -> None:
    array, seen = np.array([5], np.uint32), np.zeros(1, np.uint32)
    body = (
        f"ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; {opcode} {operands};"
        "ld.global.gpu.acquire.u32 %r2, [%rd1]; st.global.u32 [%rd2], %r2;"
    )
    with Module(kernel(body, ".param .u64 a, .param .u64 b")) as module:
        assert module.kernels["k"].unsupported == ()
        assert module.launch("k", 1, 1, [array, seen]).findings == ()
    assert array[0] == seen[0] == 7


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_errors(text: str) -> None:
    with pytest.raises(PtxError, match=r"\[Module\] PTX line \d+: .*") as caught:
        Module(text)
    assert WRONG[text] in str(caught.value)


@pytest.mark.parametrize("code", UNSUPPORTED)
def test_instructions_that_are_wrong_are_named(code: str) -> None:
    with Module(kernel(code)) as module:
        (message,) = module.kernels["k"].unsupported
    assert UNSUPPORTED[code] in message and message.startswith("line 10: ")


def test_launches_that_do_not_fit() -> None:
    array = np.zeros(4, np.float32)
    with Module(kernel("")) as module:
        for arguments, says in (
            (("none", 1, 1, [array]), "no kernel 'none'; kernels are: k"),
            (("k", 1, 1, []), "1 parameters, got 0"),
            (("k", 1, 2000, [array]), "block 2000: sizes must be from 1 to (1024, 1024, 64)"),
            (("k", 1, (64, 32), [array]), "1 to 1024 threads"),
            (("k", 0, 1, [array]), "'k': grid 0: sizes must be from 1"),
            (("k", 2**40, 1, [array]), f"'k': grid {2**40}: sizes must be from 1"),
            (("k", (1, 65536), 1, [array]), "'k': grid (1, 65536): sizes must be from 1"),
            (("k", 1, "x", [array]), "'k': block 'x' is not one to three"),
            (("k", 1.5, 1, [array]), "'k': grid 1.5 is not one to three"),
            (("k", 1, 1, 5), "'k': args must be a list"),
            (("k", 1, 1, [object()]), "parameter 0 of 'k' has 8 bytes: pass an array"),
            (("k", 1, 1, ["x"]), "parameter 0 of 'k' has 8 bytes: pass an array"),
            (("k", 1, 1, [None]), "parameter 0 of 'k' has 8 bytes: pass an array"),
            (("k", 1, 1, [2**64]), "parameter 0 of 'k' has 8 bytes, too few for"),
            (("k", 1, 1, [np.array([None])]), "parameter 0 of 'k': an array of Python objects"),
            (("k", (1, 1, 1, 1), 1, [array]), "one to three"),
            (("k", 1, 1, [np.float32(1)]), "has 8 bytes, got 4"),
            (("k", 1, 1, [array[::2]]), "parameter 0 of 'k': an array must be contiguous"),
        ):
            with pytest.raises(LaunchError, match=r"^\[launch\]") as caught:
                module.launch(*arguments)  # type: ignore[arg-type]
            assert says in str(caught.value)
        for option, value in (("seed", -1), ("steps", 2**64), ("dynamic_shared", "x")):
            with pytest.raises(LaunchError, match=f"'k': {option} .* is not an integer from 0"):
                module.launch("k", 1, 1, [array], **{option: value})  # type: ignore[arg-type]
        with pytest.raises(LaunchError, match="uninitialised names parameter 5, and there are 1"):
            module.launch("k", 1, 1, [array], uninitialised=[5])
    vast = kernel(".shared .b8 s[2000000]; mov.u64 %rd1, s;")
    with (
        Module(vast) as module_of_vast,
        pytest.raises(LaunchError, match="166912 bytes of shared memory; 'k' has 2000000"),
    ):
        module_of_vast.launch("k", 1, 1, [array])
    with Module(kernel("", ".param .f32 a")) as narrow:
        with pytest.raises(LaunchError, match="parameter 0 of 'k': 1e\\+300 is too large"):
            narrow.launch("k", 1, 1, [1e300])
        with pytest.raises(LaunchError, match="parameter 0 of 'k' has 4 bytes, got an array"):
            narrow.launch("k", 1, 1, [array])
    with pytest.raises(LaunchError, match="closed"):
        module.launch("k", 1, 1, [array])


@pytest.mark.parametrize("given", [b"\x7fELF", None, 7])
def test_what_is_no_text_is_no_ptx(given: object) -> None:
    with pytest.raises(PtxError, match=r"^\[Module\] a PTX text is a str, got "):
        Module(given)  # type: ignore[arg-type]


def test_what_a_kernel_holds_does_not_grow_with_the_others() -> None:
    # A table of all routines for each kernel would take 3 GB.
    count = 20_000
    text = "".join(f".visible .entry k{i}() {{ ret; }}\n" for i in range(count))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Module(HEADER + text) as module:
        assert len(module.kernels) == count
    # In KiB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20


SEED_TEXT = kernel(
    """
  .shared .align 8 .b8 s[64]; .local .align 8 .b8 d[16];
  ld.param.u64 %rd1, [a]; mad.wide.u32 %rd2, %r0, 4, %rd1; ld.global.f32 %f1, [%rd2+4];
  setp.lt.and.f32 %p1|%p2, %f1, 0f3F800000, %p3; @!%p1 bra L; fma.rn.f32 %f2, %f1, %f1, 0f40000000;
  L: bar.sync 0; { .param .b32 x; .param .b32 y; st.param.b32 [x], %r0; call (y), f, (x);
  ld.param.u32 %r1, [y]; } shfl.sync.bfly.b32 %r2|%p4, %r1, 1, 31, -1; atom.shared.add.u32 %r3, [s],
  1; mov.b64 %rd3, {%r2, %r3}; T: .branchtargets L, M; brx.idx %r0, T; M: st.local.v2.u32 [d], {%r1,
  %r2}; cvt.rzi.s32.f32 %r4, %f2;
""",
    before="""
.global .align 8 .u64 g[2] = {f, generic(h)}; .const .align 4 .f32 h[2] = {0f3F800000, 1.5};
.func (.param .b32 r) f(.param .b32 x) { .reg .b32 %r<2>; ld.param.u32 %r1, [x]; st.param.b32 [r], %r1; ret; }
.file 1 "a.cu"
""",
)


@pytest.mark.parametrize("seed", range(8))
def test_mutated_texts_never_crash(seed: int) -> None:
    """Texts are cut, changed and shuffled: each is rejected, or its kernels run to an outcome."""
    chance = random.Random(seed)
    words = SEED_TEXT.split(" ")
    outcomes = set()
    for _ in range(120):
        mutated = list(words)
        for _ in range(chance.randint(1, 2)):
            place = chance.randrange(len(mutated))
            how = chance.randrange(5)
            if how == 0:
                del mutated[place]
            elif how == 1:
                mutated[place] = chance.choice(words)
            elif how == 2:
                mutated.insert(
                    place, chance.choice(["}", "{", "(", ";", "]", "-1", "0x", "@", "99999999999"])
                )
            elif how == 3:
                mutated = mutated[:place] or ["x"]
            else:
                text = list(mutated[place] or "x")
                text[chance.randrange(len(text))] = chr(chance.randrange(1, 256))
                mutated[place] = "".join(text)
        try:
            with Module(" ".join(mutated)) as module:
                for kernel_ in module.kernels.values():
                    arguments = [
                        np.zeros(64, np.uint8)[:64]
                        if size == 8
                        else np.zeros(size, np.uint8).view(f"V{size}")[0]
                        for _, size in kernel_.parameters
                        if size
                    ]
                    if len(arguments) == len(kernel_.parameters):
                        outcomes.add(
                            module.launch(kernel_.name, 2, 33, arguments, steps=20_000).outcome
                        )
        except (PtxError, LaunchError) as error:
            outcomes.add(type(error).__name__)
    assert "PtxError" in outcomes and len(outcomes) > 1
