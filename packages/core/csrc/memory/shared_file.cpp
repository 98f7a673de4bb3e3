#include "memory/shared_file.h"

#include <c10/util/Exception.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace dl::core {
namespace {

constexpr char kSharedFileName[] = "dl_shared";
// Offset of the shared bytes: a multiple of every page size in use.
constexpr size_t kSharedBegin = size_t{1} << 16;

std::string path_of(const SharedName& name) {
  return c10::str("/proc/", name.process, "/fd/", name.file);
}

}  // namespace

struct SharedFile::Header {
  std::array<uint8_t, 16> nonce;
  std::atomic<uint64_t> received;
};

SharedFile::SharedFile(size_t bytes) {
  file_ = memfd_create(kSharedFileName, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  const auto whole = static_cast<off_t>(kSharedBegin + bytes);
  if (file_ < 0 || ftruncate(file_, whole) != 0 ||
      fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    const int error = errno;
    if (file_ >= 0) close(file_);
    TORCH_CHECK(false, "[dl] cannot create a memory file of ", bytes,
                " bytes to share a tensor: ", std::strerror(error));
  }
  map_header();
  TORCH_CHECK(getrandom(header_->nonce.data(), header_->nonce.size(), 0) ==
                  static_cast<ssize_t>(header_->nonce.size()),
              "[dl] the system provided no random numbers for the name of a shared tensor");
}

SharedFile::SharedFile(const SharedName& name, const std::string& what) {
  static_assert(std::atomic<uint64_t>::is_always_lock_free);
  const std::string path = path_of(name);
  const std::string expected = c10::str("/memfd:", kSharedFileName, " (deleted)");
  // Checked before opening, because opening other kinds of files may have side effects.
  char target[64] = {};
  struct stat found = {};
  if (readlink(path.c_str(), target, sizeof target - 1) > 0 && target == expected)
    file_ = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  const bool is_ours = file_ >= 0 && fstat(file_, &found) == 0 && found.st_uid == geteuid() &&
                       static_cast<size_t>(found.st_size) >= kSharedBegin;
  if (is_ours) map_header();
  if (!is_ours || header_->nonce != name.nonce) {
    if (header_ != nullptr) munmap(header_, kSharedBegin);
    if (file_ >= 0) close(file_);
    TORCH_CHECK(false, "[dl] ", what, " cannot be received: process ", name.process,
                ", which sent it, has ended, has freed it, or is another user's. It has to live ",
                "until the tensor is received; to be independent of it send a copy, x.cpu()");
  }
}

SharedFile::SharedFile(SharedFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      header_(std::exchange(other.header_, nullptr)),
      sent_(other.sent_) {}

SharedFile::~SharedFile() {
  if (header_ != nullptr) munmap(header_, kSharedBegin);
  if (file_ >= 0) close(file_);
}

void SharedFile::map_header() {
  void* const memory = mmap(nullptr, kSharedBegin, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) {
    const int error = errno;
    close(std::exchange(file_, -1));
    TORCH_CHECK(false, "[dl] a memory file cannot be mapped: ", std::strerror(error));
  }
  header_ = static_cast<Header*>(memory);
}

SharedName SharedFile::name() const { return {header_->nonce, getpid(), file_}; }

void SharedFile::note_sent() { ++sent_; }

bool SharedFile::is_wanted() const {
  if (header_->received.load(std::memory_order_acquire) < sent_) return true;
  return flock(file_, LOCK_EX | LOCK_NB) != 0;
}

void SharedFile::note_received() { header_->received.fetch_add(1, std::memory_order_acq_rel); }

void SharedFile::hold(const std::string& what) {
  TORCH_CHECK(flock(file_, LOCK_SH | LOCK_NB) == 0, "[dl] ", what,
              " cannot be received: its message was received before, and the sender has freed it ",
              "since; send it again for each time it is to be received");
}

void* SharedFile::map(size_t bytes) const {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_,
                            static_cast<off_t>(kSharedBegin));
  TORCH_CHECK(memory != MAP_FAILED, "[dl] ", bytes,
              " bytes of a memory file cannot be mapped: ", std::strerror(errno));
  return memory;
}

void SharedFile::unmap(void* memory, size_t bytes) noexcept { munmap(memory, bytes); }

}  // namespace dl::core
