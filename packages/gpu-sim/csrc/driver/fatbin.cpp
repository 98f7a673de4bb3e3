// Extraction of PTX from an image for cuModuleLoadData: a text, a fat binary, or its wrapper.

#include <dlfcn.h>

#include <cstring>
#include <vector>

#include "../ptx/lexer.h"
#include "state.h"

namespace sim {
namespace {

constexpr uint32_t kWrapper = 0x466243b1, kContainer = 0xba55ed50, kElf = 0x464c457f;
constexpr uint16_t kPtx = 1;
constexpr uint64_t kLz4 = 0x2000, kZstd = 0x8000;
constexpr const char* kWayOut =
    "build with embedded PTX: nvcc -gencode arch=compute_80,code=compute_80";

template <class T>
T field(const uint8_t* from, size_t offset) {
  T value;
  std::memcpy(&value, from + offset, sizeof value);
  return value;
}

[[noreturn]] void fail(const std::string& why) { throw PtxError(0, why); }

/** Read an LZ4 length: 15 means that more bytes follow. */
size_t length(const uint8_t*& at, const uint8_t* end, size_t first) {
  if (first != 15) return first;
  uint8_t more;
  do {
    if (at == end) fail("LZ4 data in a fat binary is truncated");
    more = *at++;
    first += more;
  } while (more == 255);
  return first;
}

std::string from_lz4(const uint8_t* at, size_t packed, size_t plain) {
  const uint8_t* end = at + packed;
  std::string made;
  while (at < end) {
    const uint8_t token = *at++;
    const size_t literals = length(at, end, token >> 4);
    if (literals > static_cast<size_t>(end - at) || made.size() + literals > plain)
      fail("LZ4 data in a fat binary is corrupt");
    made.append(reinterpret_cast<const char*>(at), literals);
    at += literals;
    if (end - at < 2) break;
    const size_t back = field<uint16_t>(at, 0);
    at += 2;
    const size_t copied = length(at, end, token & 15) + 4;
    if (back == 0 || back > made.size() || made.size() + copied > plain)
      fail("LZ4 data in a fat binary is corrupt");
    for (size_t i = 0; i < copied; ++i) made += made[made.size() - back];
  }
  return made;
}

std::string from_zstd(const uint8_t* data, size_t packed, size_t plain) {
  void* library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  using Decompress = size_t (*)(void*, size_t, const void*, size_t);
  const auto decompress = library == nullptr
                              ? nullptr
                              : reinterpret_cast<Decompress>(dlsym(library, "ZSTD_decompress"));
  if (decompress == nullptr)
    fail(
        "a fat binary is compressed with zstd, but libzstd.so.1 is missing: install it, or build "
        "with nvcc --compress-mode=none");
  std::string made(plain, '\0');
  if (decompress(made.data(), plain, data, packed) != plain)
    fail("zstd data in a fat binary is corrupt");
  return made;
}

std::string from_container(const uint8_t* container, int capability) {
  const size_t begin = field<uint16_t>(container, 6);
  const uint8_t* end = container + begin + field<uint64_t>(container, 8);
  const uint8_t* best = nullptr;
  uint32_t best_arch = 0;
  bool machine_code = false, newer = false;
  for (const uint8_t* at = container + begin; at + 64 <= end;) {
    const auto header = field<uint32_t>(at, 4);
    const auto size = field<uint64_t>(at, 8);
    if (header < 64 || size > static_cast<uint64_t>(end - at) -
                                  std::min<uint64_t>(header, static_cast<uint64_t>(end - at)))
      fail("a fat binary is truncated");
    const auto arch = field<uint32_t>(at, 28);
    if (field<uint16_t>(at, 0) != kPtx) {
      machine_code = true;
    } else if (static_cast<int>(arch) > capability) {
      newer = true;
    } else if (best == nullptr || arch > best_arch) {
      best = at;
      best_arch = arch;
    }
    at += header + size;
  }
  if (best == nullptr) {
    if (newer) fail("a fat binary has PTX only for newer devices: set DL_GPU_SIM_CAPABILITY");
    fail(machine_code ? std::string("a fat binary has machine code but no PTX: ") + kWayOut
                      : std::string("a fat binary is empty"));
  }
  const uint8_t* data = best + field<uint32_t>(best, 4);
  const size_t packed = field<uint32_t>(best, 16);
  const size_t plain = field<uint64_t>(best, 56);
  const auto flags = field<uint64_t>(best, 40);
  if ((flags & kLz4) != 0) return from_lz4(data, packed, plain);
  if ((flags & kZstd) != 0) return from_zstd(data, packed, plain);
  return std::string(reinterpret_cast<const char*>(data), field<uint64_t>(best, 8));
}

}  // namespace

std::string ptx_of(const void* image, int capability) {
  const auto* bytes = static_cast<const uint8_t*>(image);
  // Compare bytes, because a text may be shorter than a magic number.
  if (bytes[0] == 0xb1 || bytes[0] == 0x50 || bytes[0] == 0x7f) {
    switch (field<uint32_t>(bytes, 0)) {
      case kWrapper:
        return ptx_of(field<const void*>(bytes, 8), capability);
      case kContainer: {
        std::string text = from_container(bytes, capability);
        text.resize(std::strlen(text.c_str()));
        return text;
      }
      case kElf:
        fail(std::string("an image is machine code: ") + kWayOut);
      default:
        break;
    }
  }
  return reinterpret_cast<const char*>(bytes);
}

}  // namespace sim
