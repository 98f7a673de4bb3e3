// Memory files shared between processes of one user: named after the process that created them,
// freed when the last process closes them, and never part of a file system.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace dl::core {

// Identifies a file for other processes.
struct SharedName {
  std::array<uint8_t, 16> nonce;
  int32_t process;
  int32_t file;
};
static_assert(std::is_trivially_copyable_v<SharedName>);

// Messages that contain a name are counted when they are sent and when they are received. A user of
// memory that the sender retains locks the file; the kernel unlocks it when that process exits.
class SharedFile {
 public:
  // Creates a file with this number of shared bytes.
  explicit SharedFile(size_t bytes);
  // Opens the file of another process. `what` names the tensor in the error that is thrown if that
  // process has exited: "a tensor of 8 bytes".
  SharedFile(const SharedName& name, const std::string& what);
  SharedFile(SharedFile&& other) noexcept;
  SharedFile& operator=(SharedFile&&) = delete;
  ~SharedFile();

  SharedName name() const;

  // Called by the sender: records a message, and returns true while a message is pending or another
  // process holds the file.
  void note_sent();
  bool is_wanted() const;

  // Called by the receiver. hold() throws if the sender has freed the memory.
  void note_received();
  void hold(const std::string& what);

  // Maps the shared bytes in this process, until unmap() with the same size.
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
