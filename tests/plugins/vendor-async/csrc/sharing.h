#ifndef DL_ASYNC_TEST_SHARING_H_
#define DL_ASYNC_TEST_SHARING_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "dl/peer.h"
#include "file.h"
#include "mapping.h"

namespace dl::async_test {

struct SharedPart;

/** The file behind the memory of one device: it has no name, and its size stays. After the bytes of
 * the device it holds a table of what was exported, where other processes look up their handles.
 * Calls are ordered by the caller. */
class SharedFile {
 public:
  explicit SharedFile(uint64_t bytes);

  const File& file() const { return file_; }

  /** Names a part of the bytes to other processes of this user; the same part always the same.
   * Throws Error(DL_OUT_OF_MEMORY) if the table is full. */
  dl_peer_handle_t export_part(uint64_t offset, uint64_t bytes);
  /** The part's handle means nothing any more. A part without one is no error. */
  void withdraw(uint64_t offset);

 private:
  const uint64_t bytes_;
  const File file_;
  const Mapping table_;
  std::map<uint64_t, size_t> exported_;  // offset -> place in the table
};

/** A part of a device's memory in another process. */
class OpenedPart {
 public:
  /** Throws Error unless the handle is of this vendor, of a process of this user that still has
   * that memory, and not of this process. */
  explicit OpenedPart(const dl_peer_handle_t& handle);

  std::byte* begin() const { return mapping_->begin() + inside_; }
  uint64_t bytes() const { return bytes_; }

 private:
  uint64_t bytes_ = 0;
  uint64_t inside_ = 0;  // of the first page
  std::unique_ptr<Mapping> mapping_;
};

}  // namespace dl::async_test

#endif
