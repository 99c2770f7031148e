#include "base/hash.h"

#include <array>

#include <openssl/evp.h>

namespace kw {

namespace {

using Digest = std::array<unsigned char, 32>;

Digest digest_of(std::string_view data) {
  Digest digest{};
  EVP_Digest(data.data(), data.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return digest;
}

}  // namespace

std::string sha256(std::string_view data) {
  std::string hex;
  constexpr char kDigits[] = "0123456789abcdef";
  for (const unsigned char byte : digest_of(data)) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string sha256_base64(std::string_view data) {
  const Digest digest = digest_of(data);
  std::array<unsigned char, 45> text{};  // 44 characters and a zero
  const int size = EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(digest.size()));
  return std::string(text.begin(), text.begin() + size);
}

}  // namespace kw
