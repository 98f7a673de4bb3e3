#include "extensions/file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "dl/trust.hpp"

namespace dl::cpu {

TemporaryFolder::TemporaryFolder(const std::string& parent) : path_(parent + "/work-XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) {
    throw FolderError(DL_ERROR, "no folder can be made in " + parent + ": " + std::strerror(errno));
  }
}

TemporaryFolder::~TemporaryFolder() { remove_tree(path_); }

void remove_tree(const std::string& path) {
  const auto erase = [](const char* file, const struct stat*, int, FTW*) {
    remove(file);
    return 0;
  };
  nftw(path.c_str(), erase, 8, FTW_DEPTH | FTW_PHYS);
}

const std::string& own_library() {
  static const std::string path = [] {
    Dl_info info{};
    static const char inside = 0;
    const bool known = dladdr(&inside, &info) != 0 && info.dli_fname != nullptr;
    return std::string(known ? info.dli_fname : "");
  }();
  return path;
}

bool trusted(const std::string& path) {
  const std::string& own = own_library();
  return Installation(own.substr(0, own.rfind('/'))).trusts(path);
}

std::optional<std::string> read_file(int descriptor) {
  std::string bytes;
  char block[1 << 16];
  while (true) {
    const ssize_t count = read(descriptor, block, sizeof block);
    if (count == 0) return bytes;
    if (count > 0) {
      bytes.append(block, static_cast<size_t>(count));
    } else if (errno != EINTR) {
      return std::nullopt;
    }
  }
}

std::optional<std::string> read_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return file ? read_file(file.get()) : std::nullopt;
}

void write_file(const std::string& path, std::string_view bytes) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  while (file && !bytes.empty()) {
    const ssize_t count = write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) break;
    if (count > 0) bytes.remove_prefix(static_cast<size_t>(count));
  }
  if (!file || !bytes.empty())
    throw FolderError(DL_ERROR, path + " cannot be written: " + std::strerror(errno));
}

bool make_folders(const std::string& path) {
  for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
    mkdir(path.substr(0, end).c_str(), 0700);
  mkdir(path.c_str(), 0700);
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string file_identity(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  char text[128];
  std::snprintf(text, sizeof text, "%lld %lld.%09ld %llu:%llu",
                static_cast<long long>(status.st_size),
                static_cast<long long>(status.st_mtim.tv_sec), status.st_mtim.tv_nsec,
                static_cast<unsigned long long>(status.st_dev),
                static_cast<unsigned long long>(status.st_ino));
  return text;
}

}  // namespace dl::cpu
