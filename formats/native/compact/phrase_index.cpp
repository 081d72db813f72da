#include "compact/phrase_index.hpp"

#include <algorithm>
#include <string>

namespace smt::compact {
namespace {

constexpr std::uint32_t kSeed = 100000;
constexpr std::size_t kTried = 64;  // first phrases of ranges, to find out how bytes are hashed
constexpr const char* kWhat = "the index of phrases";

// Up to 56 bits at a bit position.
std::uint64_t entry(std::string_view bytes, std::uint64_t place, unsigned count) {
  std::uint64_t value = 0;
  for (std::uint64_t i = place / 8, shift = 0; i <= (place + count - 1) / 8; ++i, shift += 8) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << shift;
  }
  return value >> place % 8 & ((std::uint64_t{1} << count) - 1);
}

unsigned bits(Cursor& cursor, std::uint64_t most, const char* what) {
  const auto count = cursor.number<std::uint64_t>(kWhat);
  if (count < 1 || count > most) {
    throw BadTable("1 to " + std::to_string(most) + " bits of " + what, std::to_string(count));
  }
  return static_cast<unsigned>(count);
}

}  // namespace

PhraseIndex PhraseIndex::read(Cursor& cursor) {
  PhraseIndex index;
  index.file_ = cursor.file();
  index.order_bits_ = bits(cursor, 24, "order in a range of phrases");
  index.fingerprint_bits_ = bits(cursor, 32, "a fingerprint");
  index.start_ = cursor.at();
  const auto distance = cursor.number<std::uint64_t>(kWhat);
  if (distance < 8 || distance > index.file_.size()) {
    throw BadTable("the place of the index, within the file", std::to_string(distance));
  }
  cursor = Cursor(index.file_, index.start_ + distance);
  index.landmarks_ = PackedStrings::read<std::uint64_t>(cursor, "first phrases of ranges");
  index.ranges_ = cursor.counted<std::uint64_t>("ranges of phrases");
  index.size_ = cursor.number<std::uint64_t>(kWhat);
  if (index.landmarks_.size() != index.ranges_.size()) {
    throw BadTable("a first phrase of each of " + std::to_string(index.ranges_.size()) + " ranges",
                   std::to_string(index.landmarks_.size()));
  }
  if (index.size_ >> index.order_bits_ > index.ranges_.size()) {
    throw BadTable("at most 2^" + std::to_string(index.order_bits_) + " phrases in each range",
                   std::to_string(index.size_) + " in " + std::to_string(index.ranges_.size()));
  }
  if (!index.finds_landmarks(index.bytes_)) {
    index.bytes_ = Bytes::are_signed;
    if (!index.finds_landmarks(index.bytes_)) {
      throw BadTable("the first phrase of each range in its hash function", "another one");
    }
  }
  return index;
}

bool PhraseIndex::finds_landmarks(Bytes bytes) const {
  const std::size_t step = std::max<std::size_t>(landmarks_.size() / kTried, 1);
  for (std::size_t range = 0; range < landmarks_.size(); range += step) {
    if (find(range, landmarks_[range], bytes) != std::uint64_t{range} << order_bits_) return false;
  }
  return true;
}

std::optional<std::uint64_t> PhraseIndex::find(std::string_view key) const {
  const std::size_t after = landmarks_.upper_bound(key);
  if (after == 0) return std::nullopt;
  return find(after - 1, key, bytes_);
}

std::optional<std::uint64_t> PhraseIndex::find(std::size_t range, std::string_view key, Bytes bytes) const {
  const std::uint64_t place = ranges_[range];
  if (place > file_.size()) throw BadTable("a range of phrases within the file", "one beyond its end");
  Cursor cursor(file_, start_ + place);
  const ChdHash hash = ChdHash::read(cursor);
  const auto count = cursor.number<std::uint64_t>(kWhat);
  const std::string_view entries = cursor.bytes(cursor.number<std::uint64_t>(kWhat), kWhat);
  const unsigned width = order_bits_ + fingerprint_bits_;
  if (count > entries.size() * 8 / width) throw BadTable("a fingerprint of each phrase", "fewer");
  const std::uint64_t slot = hash(key, bytes);
  if (slot >= count) return std::nullopt;
  const std::uint64_t found = entry(entries, slot * width, width);
  const std::uint64_t wanted = murmur3(key, kSeed) & ((std::uint64_t{1} << fingerprint_bits_) - 1);
  if (found >> order_bits_ != wanted) return std::nullopt;
  const std::uint64_t order = found & ((std::uint64_t{1} << order_bits_) - 1);
  return (std::uint64_t{range} << order_bits_) + order;
}

}  // namespace smt::compact
