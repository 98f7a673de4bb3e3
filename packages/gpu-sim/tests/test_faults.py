# ruff: noqa: E501 - programs in PTX stand as they are.
"""Injected faults in PTX: each is found and named, and its correct twin has no findings."""

from __future__ import annotations

import signal
import threading
from dataclasses import dataclass, field

import numpy as np
import pytest

from conftest import kernel
from dl_gpu_sim import Module

# Addresses of the thread's elements of `a` and `b`, of four bytes each.
OWN = """
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
  mad.wide.u32 %rd3, %r0, 4, %rd1; mad.wide.u32 %rd4, %r0, 4, %rd2;
"""
SHARED = ".shared .align 16 .b8 s[256]; .shared .align 16 .b8 t[256];"
# %r1 is the address of the thread's word of s, %r2 the address of the mirrored thread's, of 64.
SHARED_OWN = (
    OWN
    + SHARED
    + """
  mov.u32 %r5, s; shl.b32 %r1, %r0, 2; add.u32 %r1, %r1, %r5;
  sub.u32 %r2, 63, %r0; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %r5;
"""
)
# The same within a warp.
WARP_OWN = SHARED_OWN + "sub.u32 %r2, 31, %r0; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %r5;"
BLOCK = "mov.u32 %r10, %ctaid.x;"

# One block writes a word and then a flag, for which another block waits.
FLAG = (
    OWN
    + """
  mov.u32 %r10, %ctaid.x; setp.eq.u32 %p1, %r10, 0; @%p1 bra WRITE;
  LOOP: {read} %r11, [%rd2+4]; setp.ne.u32 %p2, %r11, 9; @%p2 bra LOOP; {after}
  ld.global.u32 %r12, [%rd2]; bra DONE;
  WRITE: mov.u32 %r13, %laneid; setp.eq.u32 %p3, %r13, 0;
  @%p3 st.global.u32 [%rd2], 7; {write} [%rd2+4], 9;
  DONE:"""
)


def flag(text: str, write: str, read: str, after: str = "") -> str:
    return text.format(write=write, read=read, after=after)


@dataclass
class Case:
    """Faulty kernel body, and the replacement that corrects it."""

    name: str
    kind: str
    body: str
    wrong: str
    right: str
    block: int = 64
    grid: int = 1
    says: str = ""
    outcome: str = "done"
    uninitialised: tuple[int, ...] = ()
    dynamic: int = 0
    before: str = ""
    bytes_b: int = 256
    more: tuple[str, ...] = field(default=())


def out(name: str, body: str, wrong: str, right: str, **more: object) -> Case:
    more.setdefault("outcome", "illegal address")
    return Case(name, "out-of-bounds", body, wrong, right, **more)  # type: ignore[arg-type]


LOCAL = "mov.u64 %rd5, d; "
CASES = [
    # Out of bounds.
    out("load-past-the-end", OWN + "ld.global.u32 %r1, [%rd3+X];", "4", "0", says="after the end"),
    out("store-past-the-end", OWN + "st.global.u32 [%rd3+X], 1;", "4", "0", says="writes 4 bytes"),
    out("byte-past-the-end", OWN + "st.global.u8 [%rd1+X], 1;", "256", "255", block=1),
    out(
        *("before-the-beginning", OWN + "ld.global.u32 %r1, [%rd3-X];", "4", "0"),
        says=": 4 bytes before the 256 bytes of memory",
    ),
    out(
        *("before-the-second", OWN + "st.global.u32 [%rd4-X], 1;", "4", "0"),
        says=": 4 bytes before the 512 bytes of memory",
        bytes_b=512,
    ),
    out("null", OWN + "mov.u64 %rd5, X; ld.global.u32 %r1, [%rd5];", "0", "%rd1"),
    out("vector-past-the-end", OWN + "ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%rd1+X];", "256", "240"),
    out("atomic-past-the-end", OWN + "red.global.add.u32 [%rd1+X], 1;", "256", "252"),
    out("generic-past-the-end", OWN + "st.u32 [%rd3+X], 1;", "4", "0"),
    out("shared-past-the-end", SHARED_OWN + "st.shared.u32 [%r1+X], 1;", "4", "0", says="'s'"),
    out(
        "shared-generic",
        SHARED_OWN
        + "cvta.shared.u64 %rd5, 0; mov.u64 %rd5, s; cvta.shared.u64 %rd6, %rd5; st.u32 [%rd6+X], 1;",
        "256",
        "252",
        block=1,
    ),
    out(
        "dynamic-shared",
        SHARED_OWN + "mov.u32 %r3, e; mad.lo.u32 %r3, %r0, 4, %r3; st.shared.u32 [%r3+X], 1;",
        "4",
        "0",
        before=".extern .shared .align 16 .b8 e[];",
        dynamic=256,
        says="dynamic",
    ),
    out(
        "local-past-the-end",
        OWN + ".local .align 8 .b8 d[32];" + LOCAL + "st.local.u32 [%rd5+X], 1;",
        "32",
        "28",
        says="'d'",
    ),
    out(
        "local-generic",
        OWN
        + ".local .align 8 .b8 d[32];"
        + LOCAL
        + "cvta.local.u64 %rd5, %rd5; st.u32 [%rd5+X], 1;",
        "32",
        "28",
    ),
    out(
        "variable-past-the-end",
        OWN + "mov.u64 %rd5, g; st.global.u32 [%rd5+X], 1;",
        "8",
        "4",
        block=1,
        before=".global .align 4 .b8 g[8];",
        says="'g'",
    ),
    out(
        "write-to-a-constant",
        OWN + "mov.u64 %rd5, X; st.global.u32 [%rd5], 1;",
        "g",
        "%rd2",
        block=1,
        before=".const .align 4 .b8 g[8];",
    ),
    out("parameter-past-the-end", OWN + "mov.b64 %rd5, b; ld.param.u64 %rd6, [%rd5+X];", "8", "0"),
    out("host-memory", OWN + "mov.u64 %rd5, X; ld.global.u32 %r1, [%rd5];", "4096", "%rd2"),
    out(
        "async-copy-past-the-end",
        SHARED_OWN + "cp.async.ca.shared.global [s], [%rd1+X], 16; cp.async.wait_all;",
        "256",
        "240",
        block=1,
    ),
    # Misaligned.
    Case(
        "misaligned-word",
        "misaligned",
        OWN + "ld.global.u32 %r1, [%rd1+X];",
        "2",
        "4",
        outcome="misaligned address",
    ),
    Case(
        "misaligned-vector",
        "misaligned",
        OWN + "ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%rd1+X];",
        "8",
        "16",
        outcome="misaligned address",
    ),
    Case(
        "misaligned-shared",
        "misaligned",
        SHARED_OWN + "st.shared.f64 [%r5+X], 0d3ff0000000000000;",
        "4",
        "8",
        block=1,
        outcome="misaligned address",
    ),
    Case(
        "misaligned-local",
        "misaligned",
        OWN + ".local .align 8 .b8 d[32];" + LOCAL + "st.local.u64 [%rd5+X], 1;",
        "4",
        "8",
        outcome="misaligned address",
    ),
    Case(
        "misaligned-atomic",
        "misaligned",
        OWN + "red.global.add.u64 [%rd1+X], 1;",
        "4",
        "8",
        outcome="misaligned address",
    ),
    # Uninitialised.
    Case(
        "uninitialised-global",
        "uninitialised",
        OWN + "X ld.global.u32 %r1, [%rd4];",
        "",
        "st.global.u32 [%rd4], 1;",
        uninitialised=(1,),
    ),
    Case(
        "uninitialised-half",
        "uninitialised",
        OWN + "st.global.uX [%rd4], 1; ld.global.u32 %r1, [%rd4];",
        "16",
        "32",
        uninitialised=(1,),
    ),
    Case(
        "uninitialised-shared",
        "uninitialised",
        SHARED_OWN
        + "setp.ne.u32 %p1, %r0, 7; X st.shared.u32 [%r1], 1; bar.sync 0; ld.shared.u32 %r3, [%r2];",
        "@%p1",
        "",
        says="nothing has written",
    ),
    Case(
        "uninitialised-local",
        "uninitialised",
        OWN
        + ".local .align 8 .b8 d[32];"
        + LOCAL
        + "st.local.u32 [%rd5+X], 1; ld.local.u32 %r1, [%rd5];",
        "4",
        "0",
    ),
    Case(
        "uninitialised-atomic",
        "uninitialised",
        OWN + "X red.global.add.u32 [%rd4], 1;",
        "",
        "st.global.u32 [%rd4], 1;",
        uninitialised=(1,),
    ),
    Case(
        "async-copy-not-awaited",
        "uninitialised",
        SHARED_OWN
        + "cp.async.ca.shared.global [%r1], [%rd3], 4; cp.async.commit_group; X ld.shared.u32 %r3, [%r1];",
        "",
        "cp.async.wait_group 0;",
    ),
    Case(
        "async-copy-awaited-too-little",
        "uninitialised",
        SHARED_OWN
        + "cp.async.ca.shared.global [%r1], [%rd3], 4; cp.async.commit_group; cp.async.wait_group X; ld.shared.u32 %r3, [%r1];",
        "1",
        "0",
    ),
    # Races.
    Case(
        "no-barrier",
        "race",
        SHARED_OWN + "st.shared.u32 [%r1], %r0; X ld.shared.u32 %r3, [%r2];",
        "bar.warp.sync 0xffffffff;",
        "bar.sync 0;",
        says="another warp",
        more=("uninitialised",),
    ),
    Case(
        "no-barrier-before-writing-again",
        "race",
        SHARED_OWN
        + "st.shared.u32 [%r1], %r0; bar.sync 0; ld.shared.u32 %r3, [%r2]; X st.shared.u32 [%r1], %r3;",
        "",
        "bar.sync 0;",
        says="which another warp",
    ),
    Case(
        "no-warp-barrier",
        "race",
        WARP_OWN + "st.shared.u32 [%r1], %r0; X ld.shared.u32 %r3, [%r2];",
        "",
        "bar.warp.sync 0xffffffff;",
        block=32,
        says="thread of the warp",
    ),
    Case(
        "shuffle-is-no-barrier",
        "race",
        WARP_OWN + "st.shared.u32 [%r1], %r0; X ld.shared.u32 %r3, [%r2];",
        "shfl.sync.bfly.b32 %r4, %r0, 1, 31, 0xffffffff;",
        "bar.warp.sync 0xffffffff;",
        block=32,
    ),
    Case("all-threads-write", "race", OWN + "st.global.u32 [X], %r0;", "%rd2", "%rd4"),
    Case(
        "blocks-write",
        "race",
        OWN + BLOCK + "mad.wide.u32 %rd5, X, 4, %rd2; st.global.u32 [%rd5], %r10;",
        "%r0",
        "%r10",
        block=1,
        grid=8,
        says="another block",
    ),
    Case(
        "blocks-read-and-write",
        "race",
        OWN
        + BLOCK
        + "mad.wide.u32 %rd5, %r10, 4, %rd2; add.u32 %r11, %r10, X; and.b32 %r11, %r11, 7; mad.wide.u32 %rd6, %r11, 4, %rd2; ld.global.u32 %r12, [%rd6]; st.global.u32 [%rd5], %r12;",
        "1",
        "0",
        block=1,
        grid=8,
    ),
    Case(
        "atomic-with-plain",
        "race",
        OWN + "setp.eq.u32 %p1, %r0, 3; @%p1 X; @!%p1 red.global.add.u32 [%rd2], 1;",
        "st.global.u32 [%rd2], 5",
        "red.global.add.u32 [%rd2], 5",
    ),
    Case(
        "flag-without-fence",
        "race",
        OWN
        + BLOCK
        + """
      setp.eq.u32 %p1, %r10, 0; @%p1 bra WRITE;
      LOOP: ld.volatile.global.u32 %r11, [%rd2+4]; setp.ne.u32 %p2, %r11, 9; @%p2 bra LOOP;
      ld.global.u32 %r12, [%rd2]; bra DONE;
      WRITE: st.global.u32 [%rd2], 7; X st.volatile.global.u32 [%rd2+4], 9;
      DONE:""",
        "",
        "membar.gl;",
        block=1,
        grid=2,
    ),
    Case(
        "plain-flag",
        "race",
        OWN
        + BLOCK
        + """
      setp.eq.u32 %p1, %r10, 0; @%p1 bra WRITE;
      ld.X.u32 %r11, [%rd2]; bra DONE;
      WRITE: st.X.u32 [%rd2], 7;
      DONE:""",
        "global",
        "relaxed.gpu.global",
        block=1,
        grid=2,
    ),
    Case(
        "flag-with-a-fence-of-the-block",
        "race",
        flag(FLAG, write="X st.volatile.global.u32", read="ld.volatile.global.u32"),
        "membar.cta;",
        "membar.gl;",
        block=1,
        grid=2,
        says="another block",
    ),
    Case(
        "fence-of-a-cluster",
        "race",
        flag(FLAG, write="fence.acq_rel.X; st.relaxed.gpu.global.u32", read="ld.acquire.gpu.u32"),
        "cluster",
        "gpu",
        block=1,
        grid=2,
    ),
    Case(
        "flag-of-the-block",
        "race",
        flag(FLAG, write="st.release.X.global.u32", read="ld.acquire.X.global.u32"),
        "cta",
        "sys",
        block=1,
        grid=2,
    ),
    Case(
        "release-without-acquire",
        "race",
        flag(FLAG, write="st.release.gpu.u32", read="ld.X.gpu.u32"),
        "relaxed",
        "acquire",
        block=1,
        grid=2,
    ),
    Case(
        "fence-of-the-block-after-a-relaxed-read",
        "race",
        flag(FLAG, write="st.release.gpu.u32", read="ld.relaxed.gpu.u32", after="fence.acq_rel.X;"),
        "cta",
        "gpu",
        block=1,
        grid=2,
    ),
    Case(
        "relaxed-update",
        "race",
        flag(FLAG, write="red.global.gpu.X.max.u32", read="ld.acquire.gpu.u32"),
        "relaxed",
        "release",
        block=1,
        grid=2,
    ),
    Case(
        "relaxed-within-a-block",
        "race",
        flag(
            FLAG.replace("%ctaid.x", "%warpid"),
            write="@%p3 st.X.cta.u32",
            read="ld.acquire.cta.u32",
        ),
        "relaxed",
        "release",
        says="another warp",
    ),
    Case(
        "updates-of-the-block",
        "race",
        OWN + "red.relaxed.X.global.add.u32 [%rd2], 1;",
        "cta",
        "gpu",
        block=1,
        grid=2,
        says="a scope is only the block",
    ),
    Case(
        "shared-memory-orders-no-blocks",
        "race",
        OWN
        + BLOCK
        + SHARED
        + """
      mov.u32 %r5, s; setp.eq.u32 %p1, %r10, 0;
      @%p1 st.global.u32 [%rd2], 7; membar.gl; st.volatile.shared.u32 [%r5], 1;
      ld.volatile.shared.u32 %r6, [%r5]; @!%p1 ld.global.u32 %r7, [X];""",
        "%rd2",
        "%rd2+8",
        block=1,
        grid=8,
    ),
    Case(
        "named-barrier-of-some-warps",
        "race",
        SHARED_OWN
        + "st.shared.u32 [%r1], %r0; shr.u32 %r6, %r0, 5; bar.sync X; ld.shared.u32 %r3, [%r2];",
        "%r6, 32",
        "1, 64",
        more=("uninitialised",),
    ),
    # Barriers.
    Case(
        "divergent-barrier",
        "divergent-barrier",
        OWN + "setp.lt.u32 %p1, %r0, 40; X bar.sync 0;",
        "@%p1",
        "",
        says="have ended",
    ),
    Case(
        "two-barriers",
        "divergent-barrier",
        OWN + "setp.lt.u32 %p1, %r0, X; @%p1 bra ONE; bar.sync 0; bra DONE; ONE: bar.sync 0; DONE:",
        "32",
        "64",
        says="another place",
    ),
    Case(
        "early-return",
        "divergent-barrier",
        OWN + "setp.ge.u32 %p1, %r0, X; @%p1 ret; bar.sync 0;",
        "60",
        "64",
    ),
    Case(
        "barrier-waits-for-a-warp",
        "deadlock",
        OWN + "setp.ge.u32 %p1, %r0, X; @%p1 bra DONE; bar.sync 1, 64; DONE:",
        "32",
        "64",
        outcome="timeout",
        says="32 of 64",
    ),
    Case(
        "shuffle-waits",
        "deadlock",
        OWN
        + "setp.ge.u32 %p1, %r0, X; @%p1 bra OTHER; shfl.sync.bfly.b32 %r3, %r0, 1, 31, 0xffffffff; bra DONE; OTHER: bar.sync 0; DONE:",
        "16",
        "32",
        block=32,
        outcome="timeout",
        says="waits forever",
    ),
    # Others.
    Case(
        "lane-outside-of-its-mask",
        "invalid",
        OWN + "vote.sync.any.pred %p1, 1, X;",
        "0x7fffffff",
        "0xffffffff",
        block=32,
        outcome="illegal instruction",
    ),
    Case(
        "shuffle-from-an-absent-lane",
        "invalid",
        OWN
        + "setp.ge.u32 %p1, %r0, 16; @%p1 bra DONE; shfl.sync.idx.b32 %r3, %r0, X, 31, 0xffff; DONE:",
        "20",
        "10",
        block=32,
    ),
    Case(
        "barrier-of-part-of-a-warp",
        "invalid",
        OWN + "bar.sync 1, X;",
        "40",
        "64",
        outcome="illegal instruction",
    ),
    Case("trap", "trap", OWN + "setp.eq.u32 %p1, %r0, X; @%p1 trap;", "5", "99", outcome="trap"),
    Case(
        "brx-outside",
        "invalid",
        OWN + "L: .branchtargets A, B; brx.idx X, L; A: B:",
        "2",
        "1",
        outcome="illegal instruction",
    ),
    Case(
        "call-of-nothing",
        "invalid",
        OWN + "{ mov.u64 %rd5, X; call %rd5, (), P; } P: .callprototype _ ();",
        "77",
        "f",
        before=".func f() { ret; }",
        outcome="illegal address",
    ),
]


def run(case: Case, part: str, seed: int) -> tuple[str, object]:
    text = kernel(case.body.replace("X", part), ".param .u64 a, .param .u64 b", case.before)
    arrays = [np.zeros(256, np.uint8), np.zeros(case.bytes_b, np.uint8)]
    with Module(text) as module:
        result = module.launch(
            *("k", case.grid, case.block, arrays),
            dynamic_shared=case.dynamic,
            seed=seed,
            uninitialised=case.uninitialised,
            steps=1_000_000,
        )
    return text, result


def test_there_are_many() -> None:
    assert len(CASES) >= 40 and len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_is_found(case: Case, seed: int) -> None:
    text, result = run(case, case.wrong, seed)
    kinds = {finding.kind for finding in result.findings} - set(case.more)  # type: ignore[attr-defined]
    assert kinds == {case.kind}, result
    finding = next(x for x in result.findings if x.kind == case.kind)  # type: ignore[attr-defined]
    assert case.says in finding.message and finding.kernel == "k" and finding.source == ""
    assert finding.thread[0] < case.block and finding.block[0] < case.grid
    assert 0 < finding.line <= text.count("\n")
    assert result.outcome == case.outcome  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_right_twin_is_silent(case: Case, seed: int) -> None:
    _, result = run(case, case.right, seed)
    assert result.findings == () and result.outcome == "done"  # type: ignore[attr-defined]


def test_writes_of_the_same_value_are_only_counted() -> None:
    body = OWN + "st.global.u32 [%rd2], 5;"
    arrays = [np.zeros(64, np.uint32), np.zeros(64, np.uint32)]
    with Module(kernel(body, ".param .u64 a, .param .u64 b")) as module:
        result = module.launch("k", 1, 64, arrays)
    assert result.findings == () and result.same_value_writes == 63 and arrays[1][0] == 5


def test_a_race_names_where_the_access_begins() -> None:
    # The first byte of all values is the same.
    body = OWN + "shl.b32 %r1, %r0, 8; st.global.u32 [%rd2], %r1;"
    arrays = [np.zeros(64, np.uint32), np.zeros(64, np.uint32)]
    with Module(kernel(body, ".param .u64 a, .param .u64 b")) as module:
        (finding,) = module.launch("k", 1, 64, arrays).findings
    assert finding.kind == "race" and finding.address % 4 == 0


def test_an_endless_kernel_ends() -> None:
    with Module(kernel("L: bra L;")) as module:
        result = module.launch("k", 1, 32, [np.zeros(1)], steps=10_000)
    assert result.outcome == "timeout" and [x.kind for x in result.findings] == ["timeout"]


def test_an_endless_kernel_ends_by_the_variable_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DL_GPU_SIM_STEPS", "10000")
    with Module(kernel("L: bra L;")) as module:
        result = module.launch("k", 1, 32, [np.zeros(1)])
        assert result.outcome == "timeout" and result.instructions < 100_000
        # An argument has precedence over the variable.
        assert module.launch("k", 1, 32, [np.zeros(1)], steps=10**6).instructions >= 10**6


@pytest.mark.parametrize("body", ["L: bra L;", "L: bar.sync 0; bra L;"])
def test_an_endless_kernel_can_be_interrupted(body: str) -> None:
    with Module(kernel(body)) as module:
        main = threading.get_ident()
        # Sent repeatedly, because the first may arrive before the launch.
        ended = threading.Event()

        def interrupt() -> None:
            while not ended.wait(0.05):
                signal.pthread_kill(main, signal.SIGUSR1)

        def handle(*_: object) -> None:
            if any(each.name == "dl-gpu-sim launch" for each in threading.enumerate()):
                ended.set()
                raise KeyboardInterrupt

        before = signal.signal(signal.SIGUSR1, handle)
        sender = threading.Thread(target=interrupt)
        sender.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                module.launch("k", 1, 64, [np.zeros(1)], steps=10**9)
        finally:
            ended.set()
            sender.join()
            signal.signal(signal.SIGUSR1, before)
        # The module can still be used.
        assert module.launch("k", 1, 64, [np.zeros(1)], steps=1000).outcome == "timeout"


@pytest.mark.parametrize(
    ("before", "body", "outcome"),
    [
        (".func f() { call f, (); ret; }", "call f, ();", "failed"),
        ("", "mov.u64 %rd5, 77; call %rd5, (), P; P: .callprototype _ ();", "illegal address"),
        ("", "trap;", "trap"),
        ("", "wgmma.fence.sync.aligned;", "illegal instruction"),
        ("", "bar.sync 1, 40;", "illegal instruction"),
    ],
    ids=["recursion", "wild call", "trap", "unknown instruction", "barrier"],
)
def test_what_ends_a_kernel_counts_threads(before: str, body: str, outcome: str) -> None:
    with Module(kernel(body, before=before)) as module:
        result = module.launch("k", 1, 32, [np.zeros(1)])
    (finding,) = result.findings
    assert result.outcome == outcome and finding.count == 32 and finding.thread == (0, 0, 0)


def test_recursion_with_local_variables_is_not_supported() -> None:
    before = ".func f() { .local .b8 d[4]; call f, (); ret; }"
    with Module(kernel("call f, ();", before=before)) as module:
        result = module.launch("k", 1, 32, [np.zeros(1)])
    (finding,) = result.findings
    assert finding.kind == "unsupported" and "'f'" in finding.message and finding.count == 32
    assert result.outcome == "illegal instruction"


def test_a_finding_names_its_place() -> None:
    text = kernel(
        OWN + "\n  setp.eq.u32 %p1, %r0, 37;\n  @%p1 st.global.u32 [%rd3+400], 1;",
        ".param .u64 a, .param .u64 b",
    )
    with Module(text) as module:
        result = module.launch("k", 1, 64, [np.zeros(64, np.uint32), np.zeros(64, np.uint32)])
    (finding,) = result.findings
    assert finding.thread == (37, 0, 0) and finding.count == 1
    assert text.splitlines()[finding.line - 1].strip().startswith("@%p1 st.global")
    assert "292 bytes after the end of the 256 bytes" in finding.message


def test_an_unknown_instruction_is_named_when_it_runs() -> None:
    text = kernel("setp.eq.u32 %p1, %r0, 0;\n@%p1 wgmma.fence.sync.aligned;")
    with Module(text) as module:
        (message,) = module.kernels["k"].unsupported
        assert "wgmma.fence.sync.aligned" in message
        result = module.launch("k", 1, 32, [np.zeros(1)])
    (finding,) = result.findings
    assert finding.kind == "unsupported" and "wgmma" in finding.message
    assert result.outcome == "illegal instruction"
