// Memory files through which processes of one user share: named by the process that made them, gone
// with the last process that has one open, and never in a file system.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace dl::core {

// Says which file, to other processes.
struct SharedName {
  std::array<uint8_t, 16> nonce;
  int32_t process;
  int32_t file;
};
static_assert(std::is_trivially_copyable_v<SharedName>);

// Each message with a name is counted where it is sent and where it arrives. Who uses what the
// sender keeps holds a lock on the file, which the kernel lets go when that process ends.
class SharedFile {
 public:
  // A new one, with so many bytes for all to share.
  explicit SharedFile(size_t bytes);
  // That of another process. `what` is for the error where it has ended: "a tensor of 8 bytes".
  SharedFile(const SharedName& name, const std::string& what);
  SharedFile(SharedFile&& other) noexcept;
  SharedFile& operator=(SharedFile&&) = delete;
  ~SharedFile();

  SharedName name() const;

  // Of the sender: one more message is under way; and whether one still is, or somebody holds on.
  void note_sent();
  bool is_wanted() const;

  // Of the receiver. hold() throws where the sender has given up what it kept.
  void note_received();
  void hold(const std::string& what);

  // The shared bytes in this process, until unmap() with as many bytes.
  void* map(size_t bytes) const;
  static void unmap(void* memory, size_t bytes) noexcept;

 private:
  struct Header;

  void map_header();

  int file_ = -1;
  Header* header_ = nullptr;
  uint64_t sent_ = 0;
};

}  // namespace dl::core
