"""Tests of the per-thread scratch cache: which blocks are reused, and how much is cached."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from os import environ
from pathlib import Path

import pytest

from diopi_proto import include_dir as contract_dir
from dl_kernels import include_dir

COMPILER = shlex.split(environ.get("CXX", "g++"))

pytestmark = pytest.mark.skipif(shutil.which(COMPILER[0]) is None, reason="no C++ compiler")

PROGRAM = r"""
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "dl_kernels/cpu/scratch.h"

using dl::kernels::ScratchBlock;
using dl::kernels::ScratchCache;

constexpr size_t kKiB = 1024, kMiB = 1024 * kKiB;
int failures = 0;
#define EXPECT(condition) \
  if (!(condition)) std::printf("line %d: %s\n", __LINE__, #condition), ++failures

// Count the cached blocks of exactly `bytes` in this thread.
int kept(size_t bytes) {
  auto& cache = ScratchCache::of_thread();
  std::vector<ScratchBlock> taken;
  int found = 0;
  for (; found < 100; ++found) {
    taken.push_back(cache.take(bytes));
    auto* const first = static_cast<volatile uint32_t*>(taken.back().memory);
    if (*first != 0x5c7a7c4) break;
  }
  for (const ScratchBlock& block : taken) {
    *static_cast<volatile uint32_t*>(block.memory) = 0;
    std::free(block.memory);
  }
  return found;
}

ScratchBlock marked(size_t bytes) {
  const ScratchBlock block = ScratchCache::of_thread().take(bytes);
  *static_cast<volatile uint32_t*>(block.memory) = 0x5c7a7c4;
  return block;
}

int main() {
  auto& cache = ScratchCache::of_thread();
  // Reuse a block for the same size or a smaller one, but not for one of less than a quarter.
  ScratchBlock block = cache.take(kMiB - 1);
  EXPECT(block.bytes == kMiB && reinterpret_cast<uintptr_t>(block.memory) % 64 == 0);
  void* const first = block.memory;
  cache.give(block);
  block = cache.take(kMiB);
  EXPECT((block.memory == first) == KEEPS);
  cache.give(block);
  block = cache.take(kMiB / 4);
  EXPECT((block.memory == first) == KEEPS);
  cache.give(block);
  block = cache.take(kMiB / 4 - 64);
  EXPECT(block.memory != first);
  const ScratchBlock other = cache.take(kMiB);
  EXPECT((other.memory == first) == KEEPS);
  // The smallest that is large enough.
  const ScratchBlock large = cache.take(2 * kMiB);
  cache.give(large);
  cache.give(other);
  cache.give(block);
  block = cache.take(kMiB / 2);
  EXPECT((block.memory == first) == KEEPS);
  cache.give(block);
  // Small blocks are returned to the allocator.
  cache.give(marked(63 * kKiB));
  EXPECT(kept(63 * kKiB) <= 1);
  // A request of 0 bytes returns a valid block.
  block = cache.take(0);
  EXPECT(block.memory != nullptr && block.bytes == 64);
  cache.give(block);

  // At most 16 blocks per thread and 128 MiB in all threads are cached; the oldest are freed first.
  std::thread([] {
    auto& mine = ScratchCache::of_thread();
    std::vector<ScratchBlock> many;
    for (int i = 0; i < 20; ++i) many.push_back(marked(kMiB));
    for (const ScratchBlock& each : many) mine.give(each);
    EXPECT(kept(kMiB) == (KEEPS ? 16 : 0));
  }).join();
  std::thread([] {
    auto& mine = ScratchCache::of_thread();
    std::vector<ScratchBlock> many;
    for (int i = 0; i < 5; ++i) many.push_back(marked(40 * kMiB));
    for (const ScratchBlock& each : many) mine.give(each);
    std::thread([] {  // there is no room for another thread's
      ScratchCache::of_thread().give(marked(100 * kMiB));
      EXPECT(kept(100 * kMiB) == 0);
    }).join();
    EXPECT(kept(40 * kMiB) == (KEEPS ? 3 : 0));
  }).join();
  // Cached memory of a thread is freed when the thread ends.
  std::thread([] {
    ScratchCache::of_thread().give(marked(100 * kMiB));
    EXPECT(kept(100 * kMiB) == KEEPS);
  }).join();
  cache.give({nullptr, 0});
  return failures;
}
"""


@pytest.mark.parametrize("sanitized", [False, True])
def test_blocks_are_cached_and_reused(tmp_path: Path, sanitized: bool) -> None:
    source, program = tmp_path / "scratch.cpp", tmp_path / "scratch"
    source.write_text(PROGRAM, encoding="utf-8")
    flags = ["-std=c++17", "-O1", "-pthread", "-Wall", "-Wextra", "-Werror"]
    # With AddressSanitizer, accesses beyond the request have to be detected.
    flags += ["-fsanitize=address", "-DKEEPS=0"] if sanitized else ["-DKEEPS=1"]
    folders = [f"-I{include_dir()}", f"-I{contract_dir()}"]
    subprocess.run([*COMPILER, *flags, *folders, source, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
