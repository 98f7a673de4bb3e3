// SHA-256 (FIPS 180-4), for the names of cached files and to detect damaged ones.
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

  // Add bytes.
  void add(std::string_view bytes);
  // Add a text and its length, so that different lists of texts have different digests.
  void add_text(std::string_view text);
  // Return the digest; nothing may be added afterwards.
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
