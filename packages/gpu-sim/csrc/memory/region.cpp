#include "region.h"

#include <sys/mman.h>

#include <new>

namespace sim {
namespace {

// What memory holds before anything is written: a value that shows.
constexpr int kPoison = 0xA5;
// Larger memory is not filled with it: that would take the host's.
constexpr uint64_t kMostPoison = uint64_t{64} << 20;

}  // namespace

Pages::Pages(size_t bytes) : bytes_(bytes == 0 ? 1 : bytes) {
  data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
               -1, 0);
  if (data_ == MAP_FAILED) {
    data_ = nullptr;
    throw std::bad_alloc();
  }
}

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

OwnedRegion::OwnedRegion(uint64_t where, uint64_t count, What kind)
    : data_(count), flags_(count), accesses_(count * sizeof(History)) {
  base = where;
  size = count;
  what = kind;
  bytes = static_cast<uint8_t*>(data_.get());
  valid = static_cast<uint8_t*>(flags_.get());
  history = static_cast<History*>(accesses_.get());
  if (count <= kMostPoison) std::memset(bytes, kPoison, count);
}

}  // namespace sim
