// Device and host memory, and copies between them.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iterator>

#include "fake_hip.h"

using namespace fake;

namespace {

constexpr size_t kPage = 4096, kAlignment = 256;
// Fills new allocations and the padding after them: NaN in all floating-point formats.
constexpr int kPoison = 0xff;
constexpr Code kIllegalAddress = 700;

constexpr off_t kOfAnother = -1;

// Contents of a handle for another process.
struct Shared {
  static constexpr uint64_t kMark = 0x6370692d706968;  // "hip-ipc"
  uint64_t mark;
  pid_t process;
  int file;
  off_t offset;
  size_t bytes;
};
static_assert(sizeof(Shared) <= sizeof(IpcHandle), "it must fit in a handle");

size_t rounded(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

namespace fake {

size_t Memory::total() {
  return static_cast<size_t>(fake_driver::int_setting("FAKE_HIP_MEMORY", "1024")) << 20;
}

size_t Memory::used() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return used_;
}

void Memory::protect(const Piece& piece, bool whether) {
  mprotect(piece.begin, piece.mapped, whether ? PROT_READ | PROT_WRITE : PROT_NONE);
}

// An allocation ends at a page boundary, and the page after it is never accessible.
void* Memory::map(int file, off_t offset, size_t mapped, size_t reserved, size_t bytes) {
  void* begin =
      mmap(nullptr, mapped + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return nullptr;
  if (mapped != 0 && mmap(begin, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                          offset) == MAP_FAILED) {
    munmap(begin, mapped + kPage);
    return nullptr;
  }
  void* address = static_cast<char*>(begin) + (mapped - reserved);
  pieces_[reinterpret_cast<uintptr_t>(address)] = {begin, mapped, bytes, offset};
  return address;
}

void* Memory::allocate(size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (bytes > total() - used_) return nullptr;
  if (file_ < 0) file_ = memfd_create("fake device memory", MFD_CLOEXEC);
  const size_t reserved = rounded(bytes, kAlignment), mapped = rounded(reserved, kPage);
  const off_t offset = end_;
  if (ftruncate(file_, offset + static_cast<off_t>(mapped)) != 0) return nullptr;
  void* address = map(file_, offset, mapped, reserved, bytes);
  if (address == nullptr) return nullptr;
  end_ += static_cast<off_t>(mapped);
  const Piece& piece = pieces_[reinterpret_cast<uintptr_t>(address)];
  std::memset(piece.begin, kPoison, mapped);
  if (open_ == 0) protect(piece, false);
  used_ += bytes;
  return address;
}

Code Memory::release(void* address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = pieces_.find(reinterpret_cast<uintptr_t>(address));
  if (found == pieces_.end() || found->second.offset < 0) return kInvalidValue;
  const Piece piece = found->second;
  protect(piece, true);
  bool whole = true;
  const auto* bytes = static_cast<const unsigned char*>(address);
  for (size_t i = piece.bytes; i < rounded(piece.bytes, kAlignment); ++i)
    whole = whole && bytes[i] == kPoison;
  munmap(piece.begin, piece.mapped + kPage);
  (void)fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, piece.offset,
                  static_cast<off_t>(piece.mapped));
  used_ -= piece.bytes;
  pieces_.erase(found);
  return whole ? int(kSuccess) : kIllegalAddress;
}

Memory::Pieces::iterator Memory::piece_of(const void* pointer) {
  const auto next = pieces_.upper_bound(reinterpret_cast<uintptr_t>(pointer));
  return next == pieces_.begin() ? pieces_.end() : std::prev(next);
}

bool Memory::holds(const void* pointer, size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto piece = piece_of(pointer);
  if (piece == pieces_.end()) return false;
  const size_t inside = reinterpret_cast<uintptr_t>(pointer) - piece->first;
  return inside <= piece->second.bytes && bytes <= piece->second.bytes - inside;
}

bool Memory::range(const void* pointer, void** begin, size_t* bytes) {
  if (!holds(pointer, 1)) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto piece = piece_of(pointer);
  *begin = reinterpret_cast<void*>(piece->first);
  *bytes = piece->second.bytes;
  return true;
}

bool Memory::share(const void* address, IpcHandle* handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = pieces_.find(reinterpret_cast<uintptr_t>(address));
  if (found == pieces_.end() || found->second.offset < 0) return false;
  const Shared shared{Shared::kMark, getpid(), file_, found->second.offset, found->second.bytes};
  std::memset(handle, 0, sizeof *handle);
  std::memcpy(handle, &shared, sizeof shared);
  return true;
}

void* Memory::attach(const IpcHandle& handle) {
  Shared shared;
  std::memcpy(&shared, &handle, sizeof shared);
  if (shared.mark != Shared::kMark || shared.process == getpid()) return nullptr;
  const std::string path =
      "/proc/" + std::to_string(shared.process) + "/fd/" + std::to_string(shared.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  const size_t reserved = rounded(shared.bytes, kAlignment), mapped = rounded(reserved, kPage);
  void* address = map(file, shared.offset, mapped, reserved, shared.bytes);
  ::close(file);
  if (address == nullptr) return nullptr;
  Piece& piece = pieces_[reinterpret_cast<uintptr_t>(address)];
  piece.offset = kOfAnother;
  if (open_ == 0) protect(piece, false);
  return address;
}

bool Memory::detach(void* address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = pieces_.find(reinterpret_cast<uintptr_t>(address));
  if (found == pieces_.end() || found->second.offset != kOfAnother) return false;
  munmap(found->second.begin, found->second.mapped + kPage);
  pieces_.erase(found);
  return true;
}

void Memory::open() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (open_++ > 0) return;
  for (const auto& [address, piece] : pieces_) protect(piece, true);
}

void Memory::close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (--open_ > 0) return;
  for (const auto& [address, piece] : pieces_) protect(piece, false);
}

}  // namespace fake

FAKE Code hipMemGetInfo(size_t* free_bytes, size_t* total) {
  ENTER(hipMemGetInfo);
  *total = here().memory.total();
  *free_bytes = *total - here().memory.used();
  return kSuccess;
}
FAKE Code hipMalloc(void** memory, size_t bytes) {
  ENTER(hipMalloc);
  *memory = here().memory.allocate(bytes);
  return *memory == nullptr ? kOutOfMemory : kSuccess;
}
// Waits for the device, like HIP's.
FAKE Code hipFree(void* memory) {
  ENTER_AND_WAIT(hipFree);
  wait_for_all();
  return here().memory.release(memory);
}
FAKE Code hipHostMalloc(void** memory, size_t bytes, unsigned) {
  ENTER(hipHostMalloc);
  *memory = std::aligned_alloc(64, rounded(bytes, 64));
  return *memory == nullptr ? kOutOfMemory : kSuccess;
}
FAKE Code hipHostFree(void* memory) {
  ENTER_AND_WAIT(hipHostFree);
  wait_for_all();
  std::free(memory);
  return kSuccess;
}

// Never waits, even for pageable host memory, which must not change until the copy has run.
FAKE Code hipMemcpyAsync(void* to, const void* from, size_t bytes, CopyKind kind, Stream handle) {
  ENTER(hipMemcpyAsync);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kInvalidHandle;
  const bool to_device = kind != kDeviceToHost, from_device = kind != kHostToDevice;
  if (kind < kHostToDevice || kind > kDeviceToDevice) return kInvalidValue;
  if (here().memory.holds(to, bytes) != to_device) return kInvalidValue;
  if (here().memory.holds(from, bytes) != from_device) return kInvalidValue;
  push(*stream, [=] { std::memmove(to, from, bytes); });
  return kSuccess;
}
FAKE Code hipMemsetAsync(void* memory, int value, size_t bytes, Stream handle) {
  ENTER(hipMemsetAsync);
  StreamObject* stream = find(handle);
  if (stream == nullptr) return kInvalidHandle;
  if (!here().memory.holds(memory, bytes)) return kInvalidValue;
  push(*stream, [=] { std::memset(memory, value, bytes); });
  return kSuccess;
}
