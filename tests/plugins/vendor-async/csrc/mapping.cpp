#include "mapping.h"

#include <sys/mman.h>

#include <string>

#include "error.h"

namespace dl::async_test {
namespace {

std::byte* map(uint64_t bytes, int protection, int flags, int file, uint64_t offset) {
  void* memory = mmap(nullptr, bytes, protection, flags, file, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) {
    throw Error(DL_OUT_OF_MEMORY,
                std::to_string(bytes) +
                    " bytes of address space cannot be reserved; lower DL_ASYNC_TEST_MEMORY",
                "mmap");
  }
  return static_cast<std::byte*>(memory);
}

}  // namespace

Mapping::Mapping(uint64_t bytes, int protection)
    : begin_(map(bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
      bytes_(bytes) {}

Mapping::Mapping(uint64_t bytes, const File& file, uint64_t offset, bool shared)
    : begin_(map(bytes, PROT_READ | PROT_WRITE, MAP_NORESERVE | (shared ? MAP_SHARED : MAP_PRIVATE),
                 file.number(), offset)),
      bytes_(bytes) {}

Mapping::~Mapping() { munmap(begin_, bytes_); }

}  // namespace dl::async_test
