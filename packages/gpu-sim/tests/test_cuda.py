"""CUDA code compiled by nvcc: results, and findings with the source line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from conftest import needs_nvcc
from dl_gpu_sim import Module

pytestmark = needs_nvcc

SOURCE = r"""
#include <cassert>
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_fp16.h>
#define K extern "C" __global__ void
K silu(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] / (1.f + expf(-x[i]));
}
K softmax(const float* x, float* y, int n) {
  __shared__ float s[128];
  const float* r = x + (long)blockIdx.x * n;
  float m = -INFINITY;
  for (int i = threadIdx.x; i < n; i += 128) m = fmaxf(m, r[i]);
  s[threadIdx.x] = m;
  __syncthreads();
  for (int k = 64; k; k /= 2) {
    if (threadIdx.x < k) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + k]);
    __syncthreads();
  }
  m = s[0];
  __syncthreads();
  float z = 0;
  for (int i = threadIdx.x; i < n; i += 128) z += expf(r[i] - m);
  for (int k = 16; k; k /= 2) z += __shfl_xor_sync(~0u, z, k);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = z;
  __syncthreads();
  z = s[0] + s[1] + s[2] + s[3];
  for (int i = threadIdx.x; i < n; i += 128) y[(long)blockIdx.x * n + i] = expf(r[i] - m) / z;
}
K histogram(const int* x, unsigned* h, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(h + x[i], 1u);
}
K half_fma(const __half2* x, const __half2* y, __half2* z) {
  z[threadIdx.x] = __hfma2(x[threadIdx.x], y[threadIdx.x], x[threadIdx.x]);
}
K half_exp(__half* x) { x[threadIdx.x] = hexp(x[threadIdx.x]); }
K grid_sync(int* x) {
  if (threadIdx.x == 0) x[blockIdx.x] = blockIdx.x;
  cooperative_groups::this_grid().sync();
  const int y = x[gridDim.x - 1 - blockIdx.x];
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) x[blockIdx.x] = y;
}
K bad_end(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = 1;  // bad_end
}
K bad_sync(const float* x, float* y, int n) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = s[63 - threadIdx.x] + s[threadIdx.x];  // bad_sync
}
K bad_shared(const float* x, float* y, int n) {
  __shared__ float s[64];
  s[threadIdx.x + (n > 0)] = x[threadIdx.x];  // bad_shared
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x | 1];
}
K bad_barrier(const float* x, float* y, int n) {
  if (threadIdx.x < 40)
    __syncthreads();  // bad_barrier
  y[threadIdx.x] = 1;
}
K bad_align(const float* x, float* y, int n) {
  const float2 v = *(const float2*)(x + 1);  // bad_align
  y[threadIdx.x] = v.x + v.y;
}
K bad_assert(const float* x, float* y, int n) {
  assert(threadIdx.x < 5);  // bad_assert
  y[threadIdx.x] = 1;
}
K bad_blocks(const float* x, float* y, int n) {
  if (threadIdx.x == 0)
    y[0] = blockIdx.x;  // bad_blocks
}
K bad_uninitialised(const float* x, float* y, int n) {
  __shared__ float s[64];
  if (threadIdx.x != 7) s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];  // bad_uninitialised
}
"""


@pytest.fixture(scope="module")
def module(compile_cuda: Callable[[str], tuple[str, Path]]) -> Module:
    return Module(compile_cuda(SOURCE)[0])


def test_nothing_is_unsupported(module: Module) -> None:
    assert {name for name, kernel in module.kernels.items() if kernel.unsupported} == set()


def test_results(module: Module) -> None:
    x = np.random.default_rng(1).standard_normal((6, 300)).astype(np.float32)
    y = np.zeros_like(x)
    result = module.launch("silu", 8, 256, [x, y, np.int32(x.size)])
    assert result.findings == ()
    np.testing.assert_allclose(y, x / (1 + np.exp(-x)), rtol=1e-6)
    result = module.launch("softmax", 6, 128, [x, y, np.int32(300)])
    assert result.findings == ()
    exact = np.exp(x.astype(np.float64))
    np.testing.assert_allclose(y, exact / exact.sum(1, keepdims=True), rtol=2e-6)
    values = np.random.default_rng(2).integers(0, 10, 1000).astype(np.int32)
    counts = np.zeros(10, np.uint32)
    assert module.launch("histogram", 4, 256, [values, counts, np.int32(1000)]).findings == ()
    np.testing.assert_array_equal(counts, np.bincount(values, minlength=10))
    a, b = (np.random.default_rng(i).standard_normal(64).astype(np.float16) for i in (3, 4))
    c = np.zeros_like(a)
    assert module.launch("half_fma", 1, 32, [a, b, c]).findings == ()
    wide = a.astype(np.float64)
    np.testing.assert_array_equal(c, (wide * b.astype(np.float64) + wide).astype(np.float16))


def test_functions_of_halves_are_read(module: Module) -> None:
    x = np.linspace(-2, 2, 32, dtype=np.float16)
    exact = np.exp(x.astype(np.float64))
    assert module.launch("half_exp", 1, 32, [x]).findings == ()
    np.testing.assert_allclose(x, exact, rtol=2**-10)


def test_blocks_of_a_cooperative_launch_meet(module: Module) -> None:
    x = np.zeros(6, np.int32)
    result = module.launch("grid_sync", 6, 64, [x], cooperative=True)
    assert result.outcome == "done" and result.findings == ()
    assert x.tolist() == [5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("bad_end", "out-of-bounds"),
        ("bad_sync", "race"),
        ("bad_shared", "out-of-bounds"),
        ("bad_barrier", "divergent-barrier"),
        ("bad_align", "misaligned"),
        ("bad_assert", "assert"),
        ("bad_blocks", "race"),
        ("bad_uninitialised", "uninitialised"),
    ],
)
def test_faults_have_the_source_line(module: Module, name: str, kind: str) -> None:
    line = next(i for i, x in enumerate(SOURCE.splitlines(), 1) if x.endswith(f"// {name}"))
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    result = module.launch(name, 2, 64, [x, y, np.int32(64)])
    places = {(each.kind, each.source.rpartition("/")[2]) for each in result.findings}
    assert (kind, f"kernels.cu:{line}") in places
