// SHA-256 (FIPS 180-4), for names of what is kept and for noticing what was damaged.
#ifndef DL_CPU_EXTENSIONS_SHA256_H_
#define DL_CPU_EXTENSIONS_SHA256_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace dl::cpu {

class Sha256 {
 public:
  using Digest = std::array<uint8_t, 32>;

  // Adds bytes.
  void add(std::string_view bytes);
  // Adds a text and where it ends, so that no two lists of texts are the same bytes.
  void add_text(std::string_view text);
  // The digest of all that was added; nothing may be added afterwards.
  Digest finish();

 private:
  void block(const uint8_t* bytes);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> rest_{};
  uint64_t bytes_ = 0;
};

// 64 characters.
std::string hexadecimal(const Sha256::Digest& digest);

}  // namespace dl::cpu

#endif  // DL_CPU_EXTENSIONS_SHA256_H_
