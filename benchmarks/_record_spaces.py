"""Record the CPU spaces of benchmarks/spaces: all configurations of three kernels, two shapes each.

python benchmarks/_record_spaces.py [--output FOLDER] [--only TEXT]

Each configuration is checked against NumPy, then timed in rounds over all configurations, so that a
disturbance does not hit one configuration alone; the recorded time is the shortest. The files are
T4, with times in milliseconds.
"""

from __future__ import annotations

import argparse
import ctypes
import gzip
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dl_autotune import SearchSpace

FOLDER = Path(__file__).parent / "spaces"
_ROUNDS = 5
Array = NDArray[np.float32]


@dataclass(frozen=True)
class Recorded:
    """A kernel of ``_cpu_spaces.cpp`` on one shape: the arguments of a call are arrays, shape and
    parameters, in this order."""

    function: str
    space: SearchSpace
    shape: tuple[int, ...]
    arrays: tuple[Array, ...]
    expected: Array

    @property
    def name(self) -> str:
        """Name of the file."""
        return f"{self.function}_{'x'.join(map(str, self.shape))}"


def matmul(m: int, n: int, k: int, rng: np.random.Generator) -> Recorded:
    """Return a matrix product; the register block must divide its tile, and the tile the shape."""
    space = SearchSpace(
        {
            "tile_m": [8, 24, 48, 96],
            "tile_n": [16, 64, 128, 192],
            "tile_k": [16, 48, 96, 192],
            "rows": [1, 2, 4, 6, 8],
            "lanes": [4, 8, 16],
            "vectors": [1, 2, 4],
            "depth_first": [0, 1],
            "pack": [0, 1],
        },
        ["tile_m % rows == 0", "tile_n % (lanes * vectors) == 0", "rows * vectors <= 16"],
    )
    a, b = (rng.standard_normal(s, dtype=np.float32) for s in ((m, k), (k, n)))
    return Recorded("matmul", space, (m, n, k), (a, b, np.zeros((m, n), np.float32)), a @ b)


def stencil(z: int, y: int, x: int, rng: np.random.Generator) -> Recorded:
    """Return a seven-point stencil."""
    space = SearchSpace(
        {
            "tile_z": [1, 2, 4, 8, 16, 32, 128],
            "tile_y": [1, 2, 4, 8, 16, 32, 128],
            "tile_x": [16, 32, 64, 128, 256],
            "unroll": [1, 2, 4, 8],
            "y_first": [0, 1],
        }
    )
    p = rng.standard_normal((z, y, x), dtype=np.float32)
    out, inner = np.zeros_like(p), (slice(1, -1),) * 3
    around = p[:-2, 1:-1, 1:-1] + p[2:, 1:-1, 1:-1] + p[1:-1, :-2, 1:-1] + p[1:-1, 2:, 1:-1]
    around = around + p[1:-1, 1:-1, :-2] + p[1:-1, 1:-1, 2:]
    expected = np.zeros_like(p)
    expected[inner] = 0.4 * p[inner] + 0.1 * around
    return Recorded("stencil", space, (z, y, x), (p, out), expected)


def transpose(rows: int, columns: int, rng: np.random.Generator) -> Recorded:
    """Return a transposed copy."""
    space = SearchSpace(
        {
            "tile_r": [1, 2, 4, 8, 16, 32, 64, 128],
            "tile_c": [1, 2, 4, 8, 16, 32, 64, 128],
            "block_r": [1, 2, 4, 8],
            "block_c": [1, 2, 4, 8],
            "by_columns": [0, 1],
            "blocks_by_columns": [0, 1],
        },
        ["tile_r % block_r == 0", "tile_c % block_c == 0"],
    )
    given = rng.standard_normal((rows, columns), dtype=np.float32)
    out = np.zeros((columns, rows), np.float32)
    return Recorded("transpose", space, (rows, columns), (given, out), given.T.copy())


def record(one: Recorded, library: ctypes.CDLL) -> dict[str, object]:
    """Return the T4 document of a space.

    :raises RuntimeError: a configuration computes something else.
    """
    calls = [_call(one, library, config) for config in one.space.configs()]
    for config, call in zip(one.space.configs(), calls, strict=True):
        one.arrays[-1][:] = 0
        call()
        if not np.allclose(one.arrays[-1], one.expected, rtol=1e-3, atol=1e-3):
            raise RuntimeError(f"{one.name}: {config} computes something else than NumPy")
    best = np.full(len(calls), np.inf)
    for _ in range(_ROUNDS):
        for number, call in enumerate(calls):
            begin = time.perf_counter()
            call()
            best[number] = min(best[number], time.perf_counter() - begin)
    results = [
        {
            "configuration": config,
            "times": {"runtimes": [float(f"{1e3 * seconds:.4g}")]},
            "invalidity": "correct",
        }
        for config, seconds in zip(one.space.configs(), best.tolist(), strict=True)
    ]
    return {"schema_version": "1.0.0", "metadata": {"timeunit": "milliseconds"}, "results": results}


def _call(
    one: Recorded, library: ctypes.CDLL, config: Mapping[str, object]
) -> Callable[[], object]:
    pointers = [ctypes.c_void_p(each.ctypes.data) for each in one.arrays]
    sizes = [ctypes.c_int64(int(str(value))) for value in (*one.shape, *config.values())]
    function = getattr(library, one.function)
    return lambda: function(*pointers, *sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=FOLDER, help="folder of the files")
    parser.add_argument("--only", default="", help="spaces whose name contains this text")
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    every = [
        matmul(192, 192, 192, rng),
        matmul(96, 384, 96, rng),
        stencil(66, 66, 258, rng),
        stencil(18, 130, 514, rng),
        transpose(512, 512, rng),
        transpose(128, 2048, rng),
    ]
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "spaces.so"
        source = Path(__file__).with_name("_cpu_spaces.cpp")
        options = ("-O3", "-march=native", "-std=c++17", "-shared", "-fPIC", "-Wno-psabi")
        subprocess.run(["c++", *options, "-o", str(built), str(source)], check=True)
        library = ctypes.CDLL(str(built))
        arguments.output.mkdir(parents=True, exist_ok=True)
        for one in every:
            if arguments.only not in one.name:
                continue
            text = json.dumps(record(one, library), separators=(",", ":"))
            file = arguments.output / f"{one.name}_T4.json.gz"
            file.write_bytes(gzip.compress(text.encode(), mtime=0))
            print(f"{file}: {one.space.size} configurations")


if __name__ == "__main__":
    main()
