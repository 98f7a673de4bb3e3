#include "sharing.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <cstring>
#include <string>

#include "error.h"
#include "lie.h"
#include "nonce.h"

namespace dl::async_test {

/** An entry in the table of a file. Only the exporter writes it. */
struct SharedPart {
  Nonce nonce;
  uint64_t offset;
  std::atomic<uint64_t> bytes;  // 0: the entry is free
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

namespace {

constexpr char kWord[] = "dl_vendor_async_test memory";
constexpr char kFileName[] = "dl_vendor_async_test";
constexpr uint64_t kPage = 4096;
constexpr size_t kPlaces = 1024;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/** Contents of a handle; the remaining bytes are zero. */
struct Name {
  char word[32];
  uint32_t user;
  int32_t process;
  int32_t file;
  uint32_t place;
  uint64_t table;  // offset of the table in the file
  Nonce nonce;
};
static_assert(sizeof(Name) <= sizeof(dl_peer_handle_t));

constexpr uint64_t round_up(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

SharedPart* parts(const Mapping& table) { return reinterpret_cast<SharedPart*>(table.begin()); }

File new_file(uint64_t bytes) {
  File file(memfd_create(kFileName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.is_open() || ftruncate(file.number(), static_cast<off_t>(bytes)) != 0 ||
      fcntl(file.number(), F_ADD_SEALS, kSeals) != 0) {
    throw Error(DL_OUT_OF_MEMORY,
                "no memory file of " + std::to_string(bytes) +
                    " bytes can be created; lower DL_ASYNC_TEST_MEMORY",
                "memfd_create");
  }
  return file;
}

[[noreturn]] void fail_meaningless(const Name& name, const char* why) {
  throw Error(DL_INVALID_ARGUMENT, "stale handle: " + std::string(why) + "; process " +
                                       std::to_string(name.process) +
                                       " must export the memory again");
}

/** Open the file of another process, which this vendor must have created. */
File open_file(const Name& name) {
  const std::string path =
      "/proc/" + std::to_string(name.process) + "/fd/" + std::to_string(name.file);
  // Checked before it is opened: opening other kinds of files may have side effects.
  char target[64] = {};
  const std::string expected = std::string("/memfd:") + kFileName + " (deleted)";
  if (readlink(path.c_str(), target, sizeof target - 1) < 0 || target != expected)
    fail_meaningless(name, "its process has ended or has closed the device");
  File file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  struct stat found = {};
  if (!file.is_open() || fstat(file.number(), &found) != 0)
    fail_meaningless(name, "its process has ended or does not permit access");
  if (found.st_uid != geteuid()) {
    throw Error(DL_INVALID_ARGUMENT, "the memory belongs to user " + std::to_string(found.st_uid) +
                                         ", and this is " + std::to_string(geteuid()) +
                                         "; only processes of one user share memory");
  }
  const auto size = static_cast<uint64_t>(found.st_size);
  const uint64_t table = round_up(kPlaces * sizeof(SharedPart));
  if (!S_ISREG(found.st_mode) || fcntl(file.number(), F_GET_SEALS) != kSeals ||
      name.table % kPage != 0 || size < table || name.table != size - table)
    fail_meaningless(name, "its file is a different one");
  return file;
}

Name name_of(const dl_peer_handle_t& handle) {
  Name name;
  std::memcpy(static_cast<void*>(&name), handle.bytes, sizeof name);
  if (std::memcmp(name.word, kWord, sizeof kWord) != 0 || name.place >= kPlaces) {
    throw Error(DL_INVALID_ARGUMENT, "the handle was not returned by export_memory of this vendor");
  }
  if (name.user != geteuid()) {
    throw Error(DL_INVALID_ARGUMENT, "the memory belongs to user " + std::to_string(name.user) +
                                         ", and this is " + std::to_string(geteuid()) +
                                         "; only processes of one user share memory");
  }
  if (name.process == getpid()) {
    throw Error(DL_INVALID_ARGUMENT,
                "the memory is this process's own; use it as it is, or open it in another process");
  }
  return name;
}

}  // namespace

SharedFile::SharedFile(uint64_t bytes)
    : bytes_(round_up(bytes)),
      file_(new_file(bytes_ + round_up(kPlaces * sizeof(SharedPart)))),
      table_(kPlaces * sizeof(SharedPart), file_, bytes_) {}

dl_peer_handle_t SharedFile::export_part(uint64_t offset, uint64_t bytes) {
  SharedPart* all = parts(table_);
  auto known = exported_.find(offset);
  if (known == exported_.end()) {
    size_t place = 0;
    while (place < kPlaces && all[place].bytes != 0) ++place;
    if (place == kPlaces) {
      throw Error(DL_OUT_OF_MEMORY, std::to_string(kPlaces) +
                                        " allocations are exported, which is the maximum; "
                                        "free some first");
    }
    all[place].nonce = new_nonce();
    all[place].offset = offset;
    all[place].bytes = bytes;
    known = exported_.emplace(offset, place).first;
  }
  Name name = {};
  std::memcpy(name.word, kWord, sizeof kWord);
  name.user = geteuid();
  name.process = getpid();
  name.file = file_.number();
  name.place = static_cast<uint32_t>(known->second);
  name.table = bytes_;
  name.nonce = all[known->second].nonce;
  dl_peer_handle_t handle = {};
  std::memcpy(handle.bytes, &name, sizeof name);
  return handle;
}

void SharedFile::withdraw(uint64_t offset) {
  const auto known = exported_.find(offset);
  if (known == exported_.end()) return;
  parts(table_)[known->second].bytes = 0;
  exported_.erase(known);
}

OpenedPart::OpenedPart(const dl_peer_handle_t& handle) {
  const Name name = name_of(handle);
  const File file = open_file(name);
  const Mapping table(kPlaces * sizeof(SharedPart), file, name.table);
  const SharedPart& part = parts(table)[name.place];
  bytes_ = part.bytes;
  const uint64_t offset = part.offset;
  if (bytes_ == 0 || part.nonce != name.nonce) fail_meaningless(name, "the memory was freed");
  if (offset > name.table || bytes_ > name.table - offset)
    fail_meaningless(name, "the file's table is damaged");
  inside_ = offset % kPage;
  mapping_ = std::make_unique<Mapping>(round_up(inside_ + bytes_), file, offset - inside_,
                                       !lie_is(Lie::kOpenedMemoryIsACopy));
}

}  // namespace dl::async_test
