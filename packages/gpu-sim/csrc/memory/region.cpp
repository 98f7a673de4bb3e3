#include "region.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace sim {
namespace {

// Content of uninitialised memory: a recognisable value.
constexpr int kPoison = 0xA5;
// Larger regions are not filled, because that would commit host memory.
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

Pages::Pages(size_t bytes, int file) : bytes_(bytes) {
  data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (data_ == MAP_FAILED) {
    data_ = nullptr;
    throw std::bad_alloc();
  }
}

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, bytes_);
  if (file_ >= 0) close(file_);
}

int Pages::share() {
  if (file_ >= 0) return file_;
  const int file = memfd_create("dl-gpu-sim", MFD_CLOEXEC);
  if (file < 0) return -1;
  const auto* from = static_cast<const char*>(data_);
  for (size_t done = 0; done < bytes_;) {
    const ssize_t written = write(file, from + done, bytes_ - done);
    if (written <= 0) {
      close(file);
      return -1;
    }
    done += static_cast<size_t>(written);
  }
  if (mmap(data_, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
    close(file);
    return -1;
  }
  return file_ = file;
}

OwnedRegion::OwnedRegion(uint64_t where, uint64_t count, What kind)
    : data_(count), flags_(count), accesses_(count * sizeof(History)) {
  size = count;
  place(where, kind);
  if (count <= kMostPoison) std::memset(bytes, kPoison, count);
}

OwnedRegion::OwnedRegion(uint64_t where, uint64_t count, int bytes_file, int flags_file)
    : data_(count, bytes_file), flags_(count, flags_file), accesses_(count * sizeof(History)) {
  size = count;
  place(where, What::kMemory);
}

void OwnedRegion::place(uint64_t where, What kind) {
  base = where;
  what = kind;
  bytes = static_cast<uint8_t*>(data_.get());
  valid = static_cast<uint8_t*>(flags_.get());
  history = static_cast<History*>(accesses_.get());
}

bool OwnedRegion::share(int& bytes_file, int& flags_file) {
  bytes_file = data_.share();
  flags_file = flags_.share();
  return bytes_file >= 0 && flags_file >= 0;
}

}  // namespace sim
