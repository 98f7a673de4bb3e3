#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

namespace sim {

/** One earlier access of a byte. Segment 0 stands for no access. */
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
  /** Strong for its own block only. */
  bool own_block() const { return (where & kOwnBlock) != 0; }
  bool many_lanes() const { return (where & kManyLanes) != 0; }
};

/** Bytes between an address and the nearest one of `size` that begin at `base`. */
inline uint64_t bytes_apart(uint64_t address, uint64_t base, uint64_t size) {
  if (address < base) return base - address;
  return address - base < size ? 0 : address - base - size + 1;
}

/** The last accesses of a byte: its writer, its reader, and the last reader of another warp. */
struct History {
  Access writer, reader, other;
};

/** Bytes that programs of a device can reach, and what is known of each. */
struct Region {
  enum class What : uint8_t { kMemory, kVariable, kConstant, kShared, kLocal, kHost };
  What what = What::kMemory;
  bool freed = false;
  uint64_t base = 0, size = 0;
  uint8_t* bytes = nullptr;
  uint8_t* valid = nullptr;    // 1 for a byte that has been written; none: all are
  History* history = nullptr;  // none: races are not looked for
  std::string name;

  /** Bytes between an address and the region. */
  uint64_t distance(uint64_t address) const { return bytes_apart(address, base, size); }
  bool holds(uint64_t address, uint64_t count) const {
    return address - base < size && count <= size - (address - base);
  }
};

/** Zeroed memory of a size, given back by its destructor; untouched pages cost nothing.
 */
class Pages {
 public:
  Pages() = default;
  explicit Pages(size_t bytes);
  /** Those of a file, which other processes see too. Throws std::bad_alloc. */
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
  /** Put them into a file of their own, where they are and as they are; -1: there is no room. */
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

/** A region with memory of its own. */
struct OwnedRegion : Region {
  /** Throws std::bad_alloc. */
  OwnedRegion(uint64_t base, uint64_t size, What what);
  /** Memory of another process, and its flags, from the files that share() made there. */
  OwnedRegion(uint64_t base, uint64_t size, int bytes_file, int flags_file);
  /** Files with what another process has to know of it. False: there is no room. */
  bool share(int& bytes_file, int& flags_file);

 private:
  void place(uint64_t base, What what);

  Pages data_, flags_, accesses_;
};

}  // namespace sim
