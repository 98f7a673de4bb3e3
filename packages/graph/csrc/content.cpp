#include "content.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "failure.h"
#include "plan.h"
#include "safetensors.h"

namespace dl::graph {
namespace {

[[noreturn]] void fail(const char* what) {
  throw Failure(std::string(what) + ": " + std::strerror(errno));
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

// Called before opening, which has side effects on some devices, and again on the opened file.
uint64_t regular_size(const struct stat& status) {
  if (!S_ISREG(status.st_mode))
    throw Failure("it is a folder, a FIFO, a socket or a device, not a regular file");
  return static_cast<uint64_t>(status.st_size);
}

void read_at_start(const Descriptor& file, unsigned char* to, uint64_t count) {
  for (uint64_t done = 0; done < count;) {
    const ssize_t got = pread(file.number(), to + done, count - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("it cannot be read");
    if (got == 0) throw Failure("it was truncated while it was read");
    done += static_cast<uint64_t>(got);
  }
}

}  // namespace

Content Content::of_file(const char* path) {
  struct stat status;
  if (stat(path, &status) != 0) fail("it cannot be opened");
  regular_size(status);
  const Descriptor file(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.number() < 0 || fstat(file.number(), &status) != 0) fail("it cannot be opened");
  const uint64_t count = regular_size(status);

  unsigned char begin[kHeaderBegin] = {};
  read_at_start(file, begin, std::min<uint64_t>(count, sizeof begin));
  const uint64_t header = header_end(begin, count);
  void* const memory = mmap(nullptr, count, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (memory == MAP_FAILED) fail("it cannot be mapped");
  Content made(static_cast<unsigned char*>(memory), count, true);
  // Private copy of the header: other processes must not change it after verification.
  if (mmap(memory, header, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
           0) == MAP_FAILED)
    fail("its header cannot be read");
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  read_at_start(file, made.data_, std::min(count, (header + page - 1) / page * page));
  return made;
}

Content Content::copy_of(const void* bytes, uint64_t count) {
  void* memory = nullptr;
  if (count > SIZE_MAX - 1 || posix_memalign(&memory, kAlignment, count + 1) != 0)
    throw std::bad_alloc();
  if (count != 0) std::memcpy(memory, bytes, count);
  return {static_cast<unsigned char*>(memory), count, false};
}

Content::~Content() {
  if (data_ == nullptr) return;
  if (mapped_)
    munmap(data_, count_);
  else
    std::free(data_);
}

}  // namespace dl::graph
