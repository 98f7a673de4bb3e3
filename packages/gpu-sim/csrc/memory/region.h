#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

namespace sim {

/** Earlier access to a byte. Segment 0 means no access. */
struct Access {
  uint32_t segment = 0;
  uint32_t where = 0;  // see pack()

  static constexpr uint32_t kStrong = 1u << 31, kManyLanes = 1u << 30, kOwnBlock = 1u << 29;
  static uint32_t pack(uint32_t instruction, uint32_t lane) {
    return (instruction & 0xffffff) << 5 | lane;
  }
  uint32_t lane() const { return where & 31; }
  uint32_t instruction() const { return where >> 5 & 0xffffff; }
  bool strong() const { return (where & kStrong) != 0; }
  /** Strong with respect to its own block only. */
  bool own_block() const { return (where & kOwnBlock) != 0; }
  bool many_lanes() const { return (where & kManyLanes) != 0; }
};

/** Return the distance in bytes from an address to the range of `size` bytes at `base`. */
inline uint64_t bytes_apart(uint64_t address, uint64_t base, uint64_t size) {
  if (address < base) return base - address;
  return address - base < size ? 0 : address - base - size + 1;
}

/** Last accesses to a byte: the writer, the reader, and the last reader of another warp. */
struct History {
  Access writer, reader, other;
};

/** Bytes that kernels of a device can access, with their state. */
struct Region {
  enum class What : uint8_t { kMemory, kVariable, kConstant, kShared, kLocal, kHost };
  What what = What::kMemory;
  bool freed = false;
  uint64_t base = 0, size = 0;
  uint8_t* bytes = nullptr;
  uint8_t* valid = nullptr;    // 1 for each initialised byte; null if all are
  History* history = nullptr;  // null if races are not checked
  std::string name;

  /** Return the distance in bytes from an address to the region. */
  uint64_t distance(uint64_t address) const { return bytes_apart(address, base, size); }
  bool holds(uint64_t address, uint64_t count) const {
    return address - base < size && count <= size - (address - base);
  }
};

/** Owner of zeroed memory. Untouched pages cost nothing.
 */
class Pages {
 public:
  Pages() = default;
  explicit Pages(size_t bytes);
  /** Map a file that is shared with other processes. Throws std::bad_alloc. */
  Pages(size_t bytes, int file);
  ~Pages();
  Pages(Pages&& other) noexcept { swap(other); }
  Pages& operator=(Pages&& other) noexcept {
    swap(other);
    return *this;
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  void* get() const { return data_; }
  /** Back the pages by a file, at the same address; return its descriptor, or -1 if it fails. */
  int share();

 private:
  void swap(Pages& other) {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(file_, other.file_);
  }
  void* data_ = nullptr;
  size_t bytes_ = 0;
  int file_ = -1;
};

/** Region that owns its memory. */
struct OwnedRegion : Region {
  /** Throws std::bad_alloc. */
  OwnedRegion(uint64_t base, uint64_t size, What what);
  /** Map memory of another process with its flags, from the files created by share(). */
  OwnedRegion(uint64_t base, uint64_t size, int bytes_file, int flags_file);
  /** Create the files for another process; return false if it fails. */
  bool share(int& bytes_file, int& flags_file);

 private:
  void place(uint64_t base, What what);

  Pages data_, flags_, accesses_;
};

}  // namespace sim
