"""Tests of products by OpenBLAS, with a fake library that records its calls."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import support
from diopi_proto import load_vendor

COMPILER = shlex.split(os.environ.get("CXX", "g++"))
THREADS = 5

pytestmark = pytest.mark.skipif(shutil.which(COMPILER[0]) is None, reason="needs a C++ compiler")

LIBRARY = """
#include <cstdlib>

int products, most_threads = -1;

template <class T>
static void multiply(int a_side, int b_side, int m, int n, int k, T alpha, const T* a, int lda,
                     const T* b, int ldb, T beta, T* c, int ldc) {
  __atomic_fetch_add(&products, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      T sum = 0;
      for (int l = 0; l < k; ++l)
        sum += (a_side == 111 ? a[i * lda + l] : a[l * lda + i]) *
               (b_side == 111 ? b[l * ldb + j] : b[j * ldb + l]);
      c[i * ldc + j] = alpha * sum + (beta == 0 ? 0 : beta * c[i * ldc + j]);
    }
  }
}

extern "C" {
int dl_test_products() { return products; }
int dl_test_threads() { return most_threads; }
void scipy_openblas_set_num_threads(int count) {
  if (count > most_threads) most_threads = count;
}
const char* scipy_openblas_get_config() { return "made for a test"; }
const char* scipy_openblas_get_corename() { return std::getenv("DL_TEST_CORE"); }
void scipy_cblas_sgemm(int, int a_side, int b_side, int m, int n, int k, float alpha,
                       const float* a, int lda, const float* b, int ldb, float beta, float* c,
                       int ldc) {
  multiply(a_side, b_side, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void scipy_cblas_dgemm(int, int a_side, int b_side, int m, int n, int k, double alpha,
                       const double* a, int lda, const double* b, int ldb, double beta, double* c,
                       int ldc) {
  multiply(a_side, b_side, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
}
"""

# Multiplies on a host with the given number of threads, and prints the number of library calls.
CHILD = """
import itertools, json, sys
import numpy as np
from cffi import FFI
from diopi_proto import load_vendor
from diopi_proto.host.hosttable import default_host

library, openblas, dtype, threads = *sys.argv[1:4], int(sys.argv[4])
ffi = FFI()
ffi.cdef("int dl_test_products(); int dl_test_threads();")
asked = ffi.dlopen(openblas)

def in_pieces(host, begin, end, grain, body, argument):
    step = max(grain, -(-(end - begin) // threads))
    for first in range(begin, end, step):
        body(argument, first, min(end, first + step))
    return 0

host = default_host()
host._set("parallel_for", in_pieces, 1)
host._set("num_threads", lambda host: threads, 1)
rng = np.random.default_rng(0)
counts = []
with load_vendor(library) as vendor:
    shapes = [(1, 70, 90, 80), (1, 7, 500, 33), (1, 300, 9, 33), (1, 33, 1, 2000), (3, 40, 40, 40),
              (5, 40, 40, 40), (41, 40, 40, 40), (1, 64, 64, 3), (1, 129, 161, 257)]
    for (batch, m, n, k), a_turned, b_turned, bias in itertools.product(
        shapes, (False, True), (False, True), (False, True)
    ):
        if bias and batch > 1:
            continue
        a, b = rng.normal(size=(batch, m, k)), rng.normal(size=(batch, k, n))
        row = rng.normal(size=n)
        a, b, row = (x.astype(dtype) for x in (a, b, row))
        # The same matrices, column by column.
        given = []
        for x, turned in ((a, a_turned), (b, b_turned)):
            tensor = vendor.tensor(np.ascontiguousarray(x.swapaxes(1, 2)) if turned else x)
            rows, columns = x.shape[1:]
            strides = (rows * columns, 1, rows) if turned else (rows * columns, columns, 1)
            if batch == 1:
                given.append(tensor.as_strided((rows, columns), strides[1:]))
            else:
                given.append(tensor.as_strided(x.shape, strides))
        before = asked.dl_test_products()
        if batch > 1:
            out = vendor.empty((batch, m, n), dtype)
            vendor.op.Bmm(out, *given)
        else:
            out = vendor.empty((m, n), dtype)
            if bias:
                vendor.op.Addmm(out, vendor.tensor(row), *given, 1.0, 1.0)
            else:
                vendor.op.Mm(out, *given)
        counts.append(((batch, m, n, k), asked.dl_test_products() - before))
        wanted = a.astype(float) @ b.astype(float) + (row.astype(float) if bias else 0)
        tolerance = 1e-3 if dtype == "float32" else 1e-11
        np.testing.assert_allclose(out.numpy(), wanted.reshape(out.shape), atol=tolerance)
print(json.dumps({"counts": counts, "threads": asked.dl_test_threads()}))
"""


@pytest.fixture(scope="module")
def openblas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("openblas")
    source = folder / "openblas.cpp"
    source.write_text(LIBRARY)
    library = folder / "libscipy_openblas.so"
    subprocess.run([*COMPILER, "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
    return library


def multiplied(
    openblas: Path, dtype: str, core: str, threads: int = THREADS, use: str = ""
) -> tuple[dict[tuple[int, ...], set[int]], int]:
    """Return the number of library calls for products of each shape, and for each number of
    threads.

    The products themselves are compared with numpy's.
    """
    use = use or str(openblas)
    variables = {"DL_CPU_OPENBLAS": use, "DL_CPU_ONEDNN": "off", "DL_TEST_CORE": core}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, support.tested_library(), openblas, dtype, str(threads)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    counts: dict[tuple[int, ...], set[int]] = {}
    for shape, count in told["counts"]:
        counts.setdefault(tuple(shape), set()).add(count)
    return counts, int(told["threads"])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_hosts_threads_share_a_product_and_it_has_none_of_its_own(
    openblas: Path, dtype: str
) -> None:
    counts, threads = multiplied(openblas, dtype, "SkylakeX")
    assert threads == 1
    assert counts[1, 129, 161, 257] == {THREADS}
    assert counts[1, 70, 90, 80] == {THREADS}
    # As many matrices as threads, or more: each is computed by one thread.
    assert counts[5, 40, 40, 40] == {5} and counts[41, 40, 40, 40] == {41}
    assert counts[3, 40, 40, 40] == {3}, "too small to be divided"


def test_one_thread_has_a_product_to_itself(openblas: Path) -> None:
    counts, threads = multiplied(openblas, "float64", "SkylakeX", threads=1)
    assert threads == 1 and counts[1, 129, 161, 257] == {1}


def test_kernels_for_an_older_processor_do_not_stand_in_for_wider_ones(openblas: Path) -> None:
    """OpenBLAS uses the kernels of another processor if it does not know this one."""
    with load_vendor(support.tested_library()) as vendor:
        wide = "x86-64-v4" in vendor.choices.identity()
    counts, _ = multiplied(openblas, "float64", "Haswell")
    assert (counts[1, 129, 161, 257] == {0}) == wide
    counts, _ = multiplied(openblas, "float32", "Haswell")
    assert counts[1, 129, 161, 257] == {THREADS}, "nothing else serves float32 here"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("threads", [2, 7])
def test_without_a_library_the_vendors_own_kernels_share_a_product(
    openblas: Path, dtype: str, threads: int
) -> None:
    counts, _ = multiplied(openblas, dtype, "Haswell", threads, use="off")
    assert counts[1, 129, 161, 257] == {0}
