// Files and folders of the kernel extension.
#ifndef DL_CPU_EXTENSIONS_FILE_H_
#define DL_CPU_EXTENSIONS_FILE_H_

#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>

#include "dl/kit/status.h"

namespace dl::cpu {

// A folder cannot be written to: it is read-only, full, or belongs to another user.
class FolderError : public kit::Error {
 public:
  using kit::Error::Error;
};

// An open descriptor, closed with it.
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

// A folder of this user alone, removed with all that is in it.
class TemporaryFolder {
 public:
  // Makes it in `parent`. Throws FolderError.
  explicit TemporaryFolder(const std::string& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Removes a folder and all that is in it, as far as it can.
void remove_tree(const std::string& path);

// The path of the library that this code is in.
const std::string& own_library();
// Whether nobody else could have put there what is at an absolute path (dl/trust.hpp).
bool trusted(const std::string& path);

// Nothing, where there is no such file, or it cannot be read.
std::optional<std::string> read_file(int descriptor);
std::optional<std::string> read_file(const std::string& path);
// Writes a new file that this user alone can read. Throws FolderError.
void write_file(const std::string& path, std::string_view bytes);
// Makes a folder and those above it, for this user alone; whether it is there now.
bool make_folders(const std::string& path);

// What changes with a file: size, time, number; empty where there is none.
std::string file_identity(const std::string& path);

}  // namespace dl::cpu

#endif  // DL_CPU_EXTENSIONS_FILE_H_
