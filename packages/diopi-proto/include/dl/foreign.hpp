// Validation of pointers and strings that come from a vendor library, without trusting them. For
// hosts; not part of the contract.
#ifndef DL_FOREIGN_HPP_
#define DL_FOREIGN_HPP_

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace dl::foreign {

#pragma GCC visibility push(hidden)

inline constexpr size_t kPage = 4096;         // divides the real page size
inline constexpr size_t kLongestText = 4096;  // bytes of a string that are shown
inline constexpr size_t kMostText = 1 << 16;  // bytes that are searched for the terminating zero

namespace detail {

// Tests memory with an invalid rt_sigprocmask call: the kernel reads the new signal mask before it
// rejects `how`, and reports EFAULT if the memory cannot be read.
inline bool word_is_readable(uintptr_t address) noexcept {
  if (address < kPage) return false;  // NULL would mean no mask to copy; nothing is mapped there
  const int before = errno;
  const auto* word = reinterpret_cast<const void*>(address & ~uintptr_t{7});
  const long done = syscall(SYS_rt_sigprocmask, -1, word, nullptr, _NSIG / 8);
  const bool fault = done != 0 && errno == EFAULT;
  errno = before;
  return !fault;
}

}  // namespace detail

// Cache of pages that were found readable a moment ago, because strings and structs share pages.
class Pages {
 public:
  bool readable(uintptr_t page) noexcept {
    uintptr_t& known = known_[page % kRemembered];
    if (known == page + 1) return true;
    if (!detail::word_is_readable(page * kPage)) return false;
    known = page + 1;
    return true;
  }

 private:
  static constexpr size_t kRemembered = 61;
  uintptr_t known_[kRemembered] = {};
};

// Returns true if `bytes` bytes from `pointer` on are readable. Makes one system call per page.
inline bool readable(const void* pointer, size_t bytes, Pages& pages) noexcept {
  const auto first = reinterpret_cast<uintptr_t>(pointer);
  if (pointer == nullptr || bytes > UINTPTR_MAX - first) return false;
  const uintptr_t last = (first + std::max<size_t>(bytes, 1) - 1) / kPage;
  for (uintptr_t page = first / kPage; page <= last; ++page) {
    if (!pages.readable(page)) return false;
  }
  return true;
}

inline bool readable(const void* pointer, size_t bytes) noexcept {
  Pages pages;
  return readable(pointer, bytes, pages);
}

// Returns true if the word around `pointer` is writable: the kernel writes the signal mask there,
// and the previous contents are restored. Only for freshly allocated memory.
inline bool writable(void* pointer) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  if (!detail::word_is_readable(address)) return false;
  void* word = reinterpret_cast<void*>(address & ~uintptr_t{7});
  uint64_t kept;
  std::memcpy(&kept, word, sizeof(kept));
  const int before = errno;
  const long done = syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, word, _NSIG / 8);
  errno = before;
  if (done != 0) return false;
  std::memcpy(word, &kept, sizeof(kept));
  return true;
}

// As above for an allocation of `bytes` bytes: tests its beginning, middle and end, so that the
// cost does not depend on the size.
inline bool writable(void* pointer, uint64_t bytes) noexcept {
  const auto first = reinterpret_cast<uintptr_t>(pointer);
  const uint64_t last = bytes == 0 ? 0 : bytes - 1;
  if (last > UINTPTR_MAX - first) return false;
  const auto at = [&](uint64_t offset) { return reinterpret_cast<void*>(first + offset); };
  return writable(pointer) && writable(at(last / 2)) && writable(at(last));
}

// Length of a string of at most `most` bytes; -1 if it is not terminated or not readable.
inline int64_t text_length(const char* text, size_t most, Pages& pages) noexcept {
  size_t length = 0;
  while (length < most) {
    const auto at = reinterpret_cast<uintptr_t>(text + length);
    const size_t here = std::min(kPage - at % kPage, most - length);
    if (!readable(text + length, here, pages)) return -1;
    if (const void* end = std::memchr(text + length, 0, here))
      return static_cast<const char*>(end) - text;
    length += here;
  }
  return -1;
}

inline int64_t text_length(const char* text, size_t most = kLongestText) noexcept {
  Pages pages;
  return text_length(text, most, pages);
}

namespace detail {

// Decodes one UTF-8 character and returns its length in bytes; 0 if it is invalid.
inline size_t decode(std::string_view text, char32_t* character) noexcept {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t length = first < 0x80             ? 1
                        : (first & 0xE0) == 0xC0 ? 2
                        : (first & 0xF0) == 0xE0 ? 3
                        : (first & 0xF8) == 0xF0 ? 4
                                                 : 0;
  if (length == 0 || length > text.size()) return 0;
  constexpr unsigned char kFirstBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t value = first & kFirstBits[length];
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    value = value << 6 | (byte(i) & 0x3F);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[length] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
    return 0;
  *character = value;
  return length;
}

// Returns true for characters that could mislead a terminal or its reader: control characters, line
// ends, and marks that change the writing direction.
inline bool misleads(char32_t c) noexcept {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

}  // namespace detail

// Returns the text as one printable line of valid UTF-8, at most `most` bytes. Invalid bytes become
// U+FFFD, misleading characters are escaped as in C.
inline std::string printable(std::string_view text, size_t most = kLongestText) {
  std::string shown;
  char escaped[16];
  while (!text.empty()) {
    char32_t character = 0;
    const size_t length = detail::decode(text, &character);
    std::string_view next = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(next.size());
    if (length == 0) {
      next = "\xEF\xBF\xBD";
    } else if (character == '\n') {
      next = "\\n";
    } else if (character == '\t') {
      next = "\\t";
    } else if (detail::misleads(character)) {
      std::snprintf(escaped, sizeof escaped, character < 0x100 ? "\\x%02x" : "\\u%04x",
                    static_cast<unsigned>(character));
      next = escaped;
    }
    if (shown.size() + next.size() > most) break;
    shown += next;
  }
  return shown;
}

// Returns the text behind a pointer that may be NULL, unterminated or invalid; a long text is
// truncated, and its length is appended.
inline std::string read_text(const char* text, size_t most = kLongestText) {
  if (text == nullptr) return {};
  char said[64];
  const int64_t length = text_length(text, std::max(most, kMostText));
  if (length >= 0) {
    const std::string_view whole(text, static_cast<size_t>(length));
    if (whole.size() <= most) return printable(whole, most);
    const int size = std::snprintf(said, sizeof said, "... (%zu bytes)", whole.size());
    const size_t room = most - std::min(most, static_cast<size_t>(size));
    return printable(whole, room) + std::string(said).substr(0, most - std::min(most, room));
  }
  std::snprintf(said, sizeof said, "(invalid string at %p)", static_cast<const void*>(text));
  return std::string(said).substr(0, most);
}

// As printable, but keeps line ends, for the output of compilers.
inline std::string printable_lines(std::string_view text, size_t most) {
  std::string shown;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    shown += printable(text.substr(0, end), most - shown.size());
    text.remove_prefix(end);
    if (text.empty() || shown.size() >= most) break;
    shown += '\n';
    text.remove_prefix(1);
  }
  return shown;
}

// Returns the lines behind a pointer, truncated to `most` bytes; empty for an invalid pointer,
// because a library that was built before the field existed may not have initialized it.
inline std::string read_lines(const char* text, size_t most) {
  if (text == nullptr) return {};
  constexpr size_t kLongestLines = size_t{1} << 24;
  const int64_t length = text_length(text, kLongestLines);
  if (length < 0) return {};
  return printable_lines({text, static_cast<size_t>(length)}, most);
}

#pragma GCC visibility pop

}  // namespace dl::foreign

#endif  // DL_FOREIGN_HPP_
