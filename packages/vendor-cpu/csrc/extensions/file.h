// Files and folders of the kernel extension.
#ifndef DL_CPU_EXTENSIONS_FILE_H_
#define DL_CPU_EXTENSIONS_FILE_H_

#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>

#include "dl/kit/status.h"

namespace dl::cpu {

// A folder is not writable: it is read-only, full, or belongs to another user.
class FolderError : public kit::Error {
 public:
  using kit::Error::Error;
};

// An open file descriptor, closed by the destructor.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset();
    number_ = other.release();
    return *this;
  }

  explicit operator bool() const { return number_ >= 0; }
  int get() const { return number_; }
  int release() {
    const int number = number_;
    number_ = -1;
    return number;
  }
  void reset() {
    if (number_ >= 0) close(release());
  }

 private:
  int number_;
};

// A folder private to this user, removed with its contents by the destructor.
class TemporaryFolder {
 public:
  // Create it in `parent`. Throws FolderError.
  explicit TemporaryFolder(const std::string& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Remove a folder and its contents, as far as permissions allow.
void remove_tree(const std::string& path);

// Return the path of the library that contains this code.
const std::string& own_library();
// Return true if no other user could have placed the file at an absolute path (dl/trust.hpp).
bool trusted(const std::string& path);

// Read a file; std::nullopt if it does not exist or cannot be read.
std::optional<std::string> read_file(int descriptor);
std::optional<std::string> read_file(const std::string& path);
// Create a file that only this user can read. Throws FolderError.
void write_file(const std::string& path, std::string_view bytes);
// Create a folder and its parents for this user alone; return true if it exists now.
bool make_folders(const std::string& path);

// Return what identifies a version of a file: size, time, inode; empty if it does not exist.
std::string file_identity(const std::string& path);

}  // namespace dl::cpu

#endif  // DL_CPU_EXTENSIONS_FILE_H_
