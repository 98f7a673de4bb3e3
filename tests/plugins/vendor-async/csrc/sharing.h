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

/** The anonymous file that holds the memory of one device; its size is fixed. After the device's
 * bytes it has a table of exports, in which other processes look up handles. Calls are ordered by
 * the caller. */
class SharedFile {
 public:
  explicit SharedFile(uint64_t bytes);

  const File& file() const { return file_; }

  /** Export a part of the bytes to other processes of this user; the same part always has the same
   * handle. Throws Error(DL_OUT_OF_MEMORY) if the table is full. */
  dl_peer_handle_t export_part(uint64_t offset, uint64_t bytes);
  /** Invalidate the part's handle. A part without a handle is not an error. */
  void withdraw(uint64_t offset);

 private:
  const uint64_t bytes_;
  const File file_;
  const Mapping table_;
  std::map<uint64_t, size_t> exported_;  // offset -> index in the table
};

/** A part of a device's memory in another process. */
class OpenedPart {
 public:
  /** Throws Error unless the handle is from this vendor and from another process of this user that
   * still has the memory. */
  explicit OpenedPart(const dl_peer_handle_t& handle);

  std::byte* begin() const { return mapping_->begin() + inside_; }
  uint64_t bytes() const { return bytes_; }

 private:
  uint64_t bytes_ = 0;
  uint64_t inside_ = 0;  // offset within the first page
  std::unique_ptr<Mapping> mapping_;
};

}  // namespace dl::async_test

#endif
