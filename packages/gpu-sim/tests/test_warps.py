# ruff: noqa: E501 - PTX programs are not wrapped.
"""Operations across threads: shuffles, votes, atomics, barriers, matrices, calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conftest import addresses, apply, kernel
from dl_gpu_sim import Module

RANDOM = np.random.default_rng(3)
LANES = np.arange(32)


@pytest.mark.parametrize(
    ("mode", "control", "source"),
    [
        ("up", 0, lambda n: np.where(n - LANES < 1, LANES - n, LANES)),
        ("down", 31, lambda n: np.where(LANES + n < 32, LANES + n, LANES)),
        ("bfly", 31, lambda n: LANES ^ n),
        ("idx", 31, lambda n: np.full(32, n)),
        (
            "bfly",
            31 | 24 << 8,
            lambda n: np.where((LANES ^ n) // 8 == LANES // 8, LANES ^ n, LANES),
        ),
        ("idx", 31 | 24 << 8, lambda n: LANES // 8 * 8 + n % 8),
    ],
)
@pytest.mark.parametrize("by", [1, 3, 5])
def test_shuffles(mode: str, control: int, source: Any, by: int) -> None:
    a = RANDOM.integers(0, 2**32, 32, np.uint32)
    code = f"shfl.sync.{mode}.b32 %y, %x0, {by}, {control}, 0xffffffff;"
    if mode == "bfly" and control > 31:
        control = 31 | 24 << 8
    np.testing.assert_array_equal(apply(code, [a], np.uint32), a[source(by)])


def test_shuffle_says_whether_its_source_is_there() -> None:
    a = np.arange(32, dtype=np.uint32)
    code = "shfl.sync.up.b32 %y|%p1, %x0, 4, 0, 0xffffffff; @!%p1 mov.u32 %y, 99;"
    np.testing.assert_array_equal(apply(code, [a], np.uint32), np.where(LANES < 4, 99, LANES - 4))


def test_votes_and_matches() -> None:
    a = RANDOM.integers(0, 3, 32).astype(np.uint32)
    bits = sum(1 << i for i in range(32) if a[i] == 1)
    ballot = apply(
        "setp.eq.u32 %p1, %x0, 1; vote.sync.ballot.b32 %y, %p1, 0xffffffff;", [a], np.uint32
    )
    np.testing.assert_array_equal(ballot, np.full(32, bits, np.uint32))
    same = [sum(1 << j for j in range(32) if a[j] == a[i]) for i in range(32)]
    got = apply("match.any.sync.b32 %y, %x0, 0xffffffff;", [a], np.uint32)
    np.testing.assert_array_equal(got, np.array(same, np.uint32))
    for operation, want in (("add", a.sum()), ("min", a.min()), ("max", a.max())):
        got = apply(f"redux.sync.{operation}.u32 %y, %x0, 0xffffffff;", [a], np.uint32)
        np.testing.assert_array_equal(got, np.full(32, want))
    code = "setp.lt.u32 %p1, %x0, 3; vote.sync.all.pred %p2, %p1, -1; selp.u32 %y, 1, 0, %p2;"
    assert apply(code, [a], np.uint32).all()
    code = "setp.eq.u32 %p1, %x0, 3; vote.sync.any.pred %p2, !%p1, -1; selp.u32 %y, 1, 0, %p2;"
    assert apply(code, [a], np.uint32).all()


def test_divergent_lanes_meet_again() -> None:
    a = np.arange(64, dtype=np.uint32)
    code = """
      and.b32 %r1, %x0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra EVEN;
      mul.lo.u32 %r2, %x0, 3; bra MEET;
      EVEN: mul.lo.u32 %r2, %x0, 5;
      MEET: activemask.b32 %r3; setp.eq.u32 %p2, %r3, 0xffffffff; selp.u32 %y, %r2, 0, %p2;
    """
    np.testing.assert_array_equal(apply(code, [a], np.uint32), np.where(a % 2, a * 3, a * 5))


def test_a_lock_inside_of_a_warp_is_passed_on() -> None:
    code = """
      ld.param.u64 %rd1, [a];
      TRY: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra TRY;
      ld.volatile.global.u32 %r2, [%rd1+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%rd1+4], %r2;
      membar.gl; atom.global.exch.b32 %r3, [%rd1], 0;
    """
    data = np.zeros(2, np.uint32)
    with Module(kernel(code)) as module:
        result = module.launch("k", 3, 64, [data])
    assert result.findings == () and data.tolist() == [0, 192]


ATOMICS: list[tuple[str, str, Any]] = [
    ("add", "u32", lambda x: x.sum()),
    ("add", "u64", lambda x: x.sum()),
    ("min", "s32", lambda x: min(x.min(), 0)),
    ("max", "u32", lambda x: x.max()),
    ("max", "s64", lambda x: max(x.max(), 0)),
    ("or", "b32", lambda x: np.bitwise_or.reduce(x)),
    ("xor", "b64", lambda x: np.bitwise_xor.reduce(x)),
    ("and", "b32", lambda x: 0),
]


@pytest.mark.parametrize(("operation", "name", "want"), ATOMICS)
@pytest.mark.parametrize("space", ["global", "shared"])
def test_atomics(operation: str, name: str, want: Any, space: str) -> None:
    bits = int(name[1:])
    dtype = np.dtype(("int" if name[0] == "s" else "uint") + str(bits))
    values = RANDOM.integers(0, 2**20, 96).astype(dtype)
    total = np.zeros(1, dtype)
    width = bits // 8
    place = "[%rd2]" if space == "global" else "[s]"
    after = (
        ""
        if space == "global"
        else f"bar.sync 0; ld.shared.b{bits} %t, [s]; setp.eq.u32 %p2, %r0, 0; @%p2 st.global.b{bits} [%rd2], %t;"
    )
    before = (
        ""
        if space == "global"
        else f"mov.b{bits} %t, 0; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.b{bits} [s], %t; bar.sync 0;"
    )
    body = f"""
      .shared .align 8 .b8 s[8]; .reg .b{bits} %v; .reg .b{bits} %t;
      ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; mad.wide.u32 %rd1, %r0, {width}, %rd1;
      ld.global.b{bits} %v, [%rd1]; {before}
      red.{space}.{operation}.{name} {place}, %v; {after}
    """
    with Module(kernel(body, ".param .u64 p0, .param .u64 p1")) as module:
        result = module.launch("k", 1, 96, [values, total])
    assert result.findings == () and total[0] == want(values)


def test_atomic_floats_and_counters() -> None:
    body = """
      ld.param.u64 %rd1, [a]; mov.f32 %f1, 0f3f000000; atom.global.add.f32 %f2, [%rd1], %f1;
      atom.global.inc.u32 %r1, [%rd1+4], 9; atom.global.dec.u32 %r2, [%rd1+8], 5;
      mov.b32 %r3, 0x3c003c00; red.global.add.noftz.f16x2 [%rd1+12], %r3;
    """
    data = np.zeros(4, np.uint32)
    with Module(kernel(body)) as module:
        result = module.launch("k", 1, 64, [data])
    assert result.findings == ()
    assert data[:1].view(np.float32)[0] == 32 and data[1] == 64 % 10 and data[2] == (-64) % 6
    assert data[3:].view(np.float16).tolist() == [64, 64]


def test_barriers_that_count() -> None:
    body = """
      ld.param.u64 %rd1, [a]; mad.wide.u32 %rd1, %r0, 4, %rd1;
      and.b32 %r1, %r0, 3; setp.eq.u32 %p1, %r1, 0;
      bar.red.popc.u32 %r2, 0, %p1;
      bar.red.and.pred %p2, 0, !%p1; bar.red.or.pred %p3, 0, %p1;
      selp.u32 %r3, 1000, 0, %p3; @%p2 add.u32 %r3, %r3, 5000; add.u32 %r2, %r2, %r3;
      st.global.u32 [%rd1], %r2;
    """
    data = np.zeros(80, np.uint32)
    with Module(kernel(body)) as module:
        result = module.launch("k", 1, 80, [data])
    assert result.findings == () and (data == 1020).all()


def test_producer_and_consumer() -> None:
    body = """
      .shared .align 4 .b8 s[128];
      ld.param.u64 %rd1, [a]; and.b32 %r1, %r0, 31; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r2, %r2, %r3;
      setp.ge.u32 %p1, %r0, 32; @%p1 bra CONSUME;
      st.shared.u32 [%r2], %r0; bar.arrive 1, 64; bra DONE;
      CONSUME: bar.sync 1, 64; ld.shared.u32 %r4, [%r2]; mad.wide.u32 %rd2, %r1, 4, %rd1; st.global.u32 [%rd2], %r4;
      DONE:
    """
    data = np.zeros(32, np.uint32)
    with Module(kernel(body)) as module:
        for seed in range(4):
            result = module.launch("k", 1, 64, [data], seed=seed)
            assert result.findings == () and (data == LANES).all()


def test_the_last_block_sees_all_others() -> None:
    body = """
      .shared .align 4 .b8 last[4];
      ld.param.u64 %rd1, [a]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x;
      setp.ne.u32 %p1, %r0, 0; @%p1 bra WAIT;
      mad.wide.u32 %rd2, %r1, 4, %rd1; st.global.u32 [%rd2+8], %r1; membar.gl;
      atom.global.add.u32 %r3, [%rd1], 1; st.shared.u32 [last], %r3;
      WAIT: bar.sync 0; ld.shared.u32 %r3, [last]; add.u32 %r3, %r3, 1; setp.ne.u32 %p2, %r3, %r2; @%p2 ret;
      setp.ge.u32 %p3, %r0, %r2; @%p3 ret;
      mad.wide.u32 %rd2, %r0, 4, %rd1; ld.global.u32 %r4, [%rd2+8]; red.global.add.u32 [%rd1+4], %r4;
    """
    data = np.zeros(66, np.uint32)
    with Module(kernel(body)) as module:
        result = module.launch("k", 64, 64, [data])
    assert result.findings == () and data[1] == 63 * 32


def test_a_grid_waits_for_itself() -> None:
    """Blocks wait for other blocks, which may not have begun."""
    body = """
      ld.param.u64 %rd1, [a]; mov.u32 %r1, %ctaid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;
      setp.eq.u32 %p1, %r1, 31; @%p1 bra FIRST;
      LOOP: ld.acquire.gpu.global.u32 %r2, [%rd2+4]; setp.eq.u32 %p2, %r2, 0; @%p2 bra LOOP;
      add.u32 %r2, %r2, 1; bra STORE;
      FIRST: mov.u32 %r2, 1;
      STORE: st.release.gpu.global.u32 [%rd2], %r2;
    """
    data = np.zeros(33, np.uint32)
    with Module(kernel(body)) as module:
        result = module.launch("k", 32, 1, [data])
    assert result.findings == () and data[0] == 32


def test_calls() -> None:
    before = """
    .func (.param .b32 r) f(.param .b32 x, .param .b64 y)
    { .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p<2>;
      ld.param.u32 %r1, [x]; ld.param.u64 %rd1, [y]; setp.eq.u32 %p1, %r1, 0; @%p1 bra END;
      { .param .b32 a; .param .b64 b; .param .b32 c; sub.u32 %r2, %r1, 1; st.param.b32 [a], %r2; st.param.b64 [b], %rd1;
        call (c), f, (a, b); ld.param.u32 %r3, [c]; }
      add.u32 %r1, %r1, %r3;
      END: st.param.b32 [r], %r1; ret; }
    .func (.param .b32 r) g(.param .b32 x, .param .b64 y)
    { .reg .b32 %r<2>; ld.param.u32 %r1, [x]; neg.s32 %r1, %r1; st.param.b32 [r], %r1; ret; }
    .global .align 8 .u64 table[2] = {f, g};
    """
    code = """
      ld.param.u64 %rd1, [a]; mad.wide.u32 %rd1, %r0, 4, %rd1; and.b32 %r1, %r0, 1;
      mov.u64 %rd2, table; mad.wide.u32 %rd2, %r1, 8, %rd2; ld.global.u64 %rd3, [%rd2];
      P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);
      { .param .b32 x; .param .b64 y; .param .b32 z; st.param.b32 [x], %r0; st.param.b64 [y], %rd1;
        call (z), %rd3, (x, y), P; ld.param.u32 %r2, [z]; }
      st.global.u32 [%rd1], %r2;
    """
    data = np.zeros(32, np.int32)
    with Module(kernel(code, before=before)) as module:
        result = module.launch("k", 1, 32, [data])
    assert result.findings == ()
    np.testing.assert_array_equal(data, np.where(LANES % 2, -LANES, LANES * (LANES + 1) // 2))


def test_branch_tables() -> None:
    a = np.arange(32, dtype=np.uint32)
    code = """
      T: .branchtargets A, B, C;
      rem.u32 %r1, %x0, 3; brx.idx %r1, T;
      A: mov.u32 %y, 10; bra DONE;
      B: mov.u32 %y, 20; bra DONE;
      C: mov.u32 %y, 30;
      DONE:
    """
    np.testing.assert_array_equal(apply(code, [a], np.uint32), 10 + 10 * (a % 3))


def test_output() -> None:
    before = """
    .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
    .global .align 1 .b8 text[16] = {37, 100, 32, 37, 46, 50, 102, 10, 0};
    """
    code = """
      .local .align 8 .b8 d[16]; mov.u64 %rd1, d; st.local.u32 [%rd1], %r0; mov.f64 %fd1, 0d3ff8000000000000;
      st.local.f64 [%rd1+8], %fd1; cvta.local.u64 %rd2, %rd1; mov.u64 %rd3, text; cvta.global.u64 %rd3, %rd3;
      { .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f], %rd3; st.param.b64 [v], %rd2;
        call.uni (r), vprintf, (f, v); }
    """
    with Module(kernel(code, before=before)) as module:
        result = module.launch("k", 1, 2, [np.zeros(1)])
    assert result.output == "0 1.50\n1 1.50\n" and result.findings == ()


def matrix_case(shape: str, kind: str) -> tuple[int, int, Any, Any]:
    k = int(shape.rpartition("k")[2])
    dtype = {"f16": np.float16, "s8": np.int8, "tf32": np.float32}[kind]
    if kind == "s8":
        return (
            k,
            4,
            RANDOM.integers(-99, 99, (16, k)).astype(dtype),
            RANDOM.integers(-99, 99, (k, 8)).astype(dtype),
        )
    per = 2 if kind == "f16" else 1
    return (
        k,
        per,
        RANDOM.integers(-8, 8, (16, k)).astype(dtype),
        RANDOM.integers(-8, 8, (k, 8)).astype(dtype),
    )


@pytest.mark.parametrize(
    ("shape", "kind", "total"),
    [
        ("m16n8k8", "f16", "f32"),
        ("m16n8k16", "f16", "f32"),
        ("m16n8k4", "tf32", "f32"),
        ("m16n8k8", "tf32", "f32"),
        ("m16n8k16", "s8", "s32"),
        ("m16n8k32", "s8", "s32"),
    ],
)
def test_matrices(shape: str, kind: str, total: str) -> None:
    """Fragments are filled by an independent transcription of the tables in the PTX manual."""
    k, per, a, b = matrix_case(shape, kind)
    registers_a, registers_b = 16 * k // per // 32, 8 * k // per // 32
    packed_a = np.zeros((32, registers_a, per), a.dtype)
    packed_b = np.zeros((32, registers_b, per), b.dtype)
    for lane in range(32):
        group, inside = divmod(lane, 4)
        for register in range(registers_a):
            for part in range(per):
                row = group + 8 * (register % 2)
                column = inside * per + part + 4 * per * (register // 2)
                packed_a[lane, register, part] = a[row, column]
        for register in range(registers_b):
            for part in range(per):
                packed_b[lane, register, part] = b[inside * per + part + 4 * per * register, group]
    if kind == "tf32":  # the last 13 bits are ignored
        for packed in (packed_a, packed_b):
            packed.view(np.uint32)[...] |= RANDOM.integers(0, 2**13, packed.shape).astype(np.uint32)
    result = np.zeros((32, 4), np.int32 if total == "s32" else np.float32)
    body = addresses(3, [4 * registers_a, 4 * registers_b, 16])
    body += "".join(f"ld.global.b32 %r{i + 1}, [%rd1+{4 * i}];" for i in range(registers_a))
    body += "".join(f"ld.global.b32 %r{i + 11}, [%rd2+{4 * i}];" for i in range(registers_b))
    body += "mov.b32 %r20, 0;"

    def vector(first: int, count: int) -> str:
        return "{" + ", ".join(f"%r{first + i}" for i in range(count)) + "}"

    body += f"mma.sync.aligned.{shape}.row.col.{total}.{kind}.{kind}.{total} {vector(21, 4)}, {vector(1, registers_a)}, {vector(11, registers_b)}, {{%r20, %r20, %r20, %r20}};"
    body += "".join(f"st.global.b32 [%rd3+{4 * i}], %r{i + 21};" for i in range(4))
    with Module(kernel(body, ".param .u64 p0, .param .u64 p1, .param .u64 p2")) as module:
        done = module.launch("k", 1, 32, [packed_a, packed_b, result])
    assert done.findings == () and done.outcome == "done"
    want = a.astype(np.float64) @ b.astype(np.float64)
    got = np.zeros((16, 8))
    for lane in range(32):
        for i in range(4):
            got[lane // 4 + 8 * (i // 2), lane % 4 * 2 + i % 2] = result[lane, i]
    np.testing.assert_array_equal(got, want)


# Code of cooperative_groups' this_grid().sync().
GRID_BARRIER = """
  mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; mov.b64 %rd5, {%r2, %r1};
  setp.eq.u64 %p1, %rd5, 0; @%p1 trap;
  setp.eq.u32 %p2, %r10, 0; mov.u32 %r3, %nctaid.x; sub.u32 %r3, 0x80000001, %r3;
  selp.b32 %r3, %r3, 1, %p2;
  atom.add.release.gpu.u32 %r4, [%rd5+4], %r3;
  LOOP: ld.acquire.gpu.u32 %r6, [%rd5+4];
  xor.b32 %r7, %r6, %r4; setp.ge.s32 %p3, %r7, 0; @%p3 bra LOOP;
"""


@pytest.mark.parametrize("cooperative", [True, False])
def test_a_cooperative_launch_has_the_workspace_of_grid_barriers(cooperative: bool) -> None:
    body = (
        "ld.param.u64 %rd1, [a]; mov.u32 %r10, %ctaid.x; mov.u32 %r11, %nctaid.x;"
        "mad.wide.u32 %rd2, %r10, 4, %rd1; st.global.u32 [%rd2], %r10;"
        + GRID_BARRIER
        + "sub.u32 %r12, %r11, %r10; sub.u32 %r12, %r12, 1; mad.wide.u32 %rd3, %r12, 4, %rd1;"
        "ld.global.u32 %r13, [%rd3]; st.global.u32 [%rd2+64], %r13;"
    )
    array = np.zeros(32, np.uint32)
    with Module(kernel(body)) as module:
        for _ in range(2):
            done = module.launch("k", 16, 1, [array], cooperative=cooperative)
    if not cooperative:
        assert done.outcome == "trap"
        return
    assert done.findings == () and done.outcome == "done"
    assert array[16:].tolist() == list(range(15, -1, -1))


@pytest.mark.parametrize("trans", ["", ".trans"])
def test_matrices_from_shared_memory(trans: str) -> None:
    data = RANDOM.integers(0, 2**16, (32, 8)).astype(np.uint16)
    result = np.zeros((32, 4), np.uint32)
    body = (
        addresses(2, [16, 16])
        + f"""
      .shared .align 16 .b8 s[512]; mov.u32 %r1, s; shl.b32 %r2, %r0, 4; add.u32 %r1, %r1, %r2;
      ld.global.v4.u32 {{%r3, %r4, %r5, %r6}}, [%rd1]; st.shared.v4.u32 [%r1], {{%r3, %r4, %r5, %r6}};
      bar.warp.sync -1;
      ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 {{%r3, %r4, %r5, %r6}}, [%r1];
      st.global.v4.u32 [%rd2], {{%r3, %r4, %r5, %r6}};
    """
    )
    with Module(kernel(body, ".param .u64 p0, .param .u64 p1")) as module:
        done = module.launch("k", 1, 32, [data, result])
    assert done.findings == ()
    matrices = data.reshape(4, 8, 8)
    if trans:
        matrices = matrices.transpose(0, 2, 1)
    want = np.ascontiguousarray(matrices).reshape(4, 32, 2).transpose(1, 0, 2)
    np.testing.assert_array_equal(result.view(np.uint16).reshape(32, 4, 2), want)
