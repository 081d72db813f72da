#include "extract/sort.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <numeric>

namespace smt {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 16;

// Compares words, each with a final blank, |||, too.
bool lies_before(std::string_view a, std::string_view b) noexcept {
  const std::size_t shared = std::min(a.size(), b.size());
  const int order = std::memcmp(a.data(), b.data(), shared);
  if (order != 0) return order < 0;
  if (a.size() == b.size()) return false;
  return a.size() < b.size() ? ' ' < static_cast<unsigned char>(b[shared])
                             : static_cast<unsigned char>(a[shared]) < ' ';
}

std::uint64_t head_of(std::string_view text) noexcept {
  std::uint64_t head = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    head = head << 8U | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
  }
  return head;
}

}  // namespace

ByteRanks::ByteRanks(const WordList& words) : rank(words.size()) {
  std::vector<std::uint32_t> order(words.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return lies_before(words.word(a), words.word(b)); });
  const auto place = std::partition_point(order.begin(), order.end(),
                                          [&](std::uint32_t id) { return lies_before(words.word(id), "|||"); });
  bars = static_cast<std::uint32_t>(place - order.begin());
  for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i < bars ? i : i + 1;
}

int compare(WordSpan a, WordSpan b, const ByteRanks& ranks) noexcept {
  const std::size_t shared = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < shared; ++i) {
    if (a[i] != b[i]) return ranks.rank[a[i]] < ranks.rank[b[i]] ? -1 : 1;
  }
  if (a.size() == b.size()) return 0;
  const std::uint32_t left = a.size() == shared ? ranks.bars : ranks.rank[a[shared]];
  const std::uint32_t right = b.size() == shared ? ranks.bars : ranks.rank[b[shared]];
  return left < right ? -1 : 1;
}

void append_key(std::string& out, WordSpan words, const ByteRanks& ranks) {
  const auto append = [&out](std::uint32_t number) {
    for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>(number >> shift & 0xFFU);
  };
  for (const std::uint32_t word : words) append(ranks.rank[word]);
  append(ranks.bars);
}

DiskError::DiskError(int number_, std::string path_)
    : std::runtime_error(path_ + ": " + std::strerror(number_)), number(number_), path(std::move(path_)) {}

SpillFile::SpillFile(std::string path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wb")) {
  if (file_ == nullptr) throw DiskError(errno, path_);
  std::setvbuf(file_, nullptr, _IOFBF, kBuffer);
}

SpillFile::~SpillFile() {
  if (file_ != nullptr) std::fclose(file_);
  std::remove(path_.c_str());
}

void SpillFile::write(std::string_view record) {
  if (record.size() > std::numeric_limits<std::uint32_t>::max()) throw DiskError(EFBIG, path_);
  const auto length = static_cast<std::uint32_t>(record.size());
  if (std::fwrite(&length, sizeof length, 1, file_) != 1 ||
      std::fwrite(record.data(), 1, record.size(), file_) != record.size()) {
    throw DiskError(errno, path_);
  }
}

void SpillFile::close() {
  std::FILE* file = std::exchange(file_, nullptr);
  if (std::fclose(file) != 0) throw DiskError(errno, path_);
}

SpillReader::SpillReader(const SpillFile& file) : path_(file.path_), file_(std::fopen(path_.c_str(), "rb")) {
  if (file_ == nullptr) throw DiskError(errno, path_);
  std::setvbuf(file_, nullptr, _IOFBF, kBuffer);
}

SpillReader::SpillReader(SpillReader&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, nullptr)), record_(std::move(other.record_)) {}

SpillReader::~SpillReader() {
  if (file_ != nullptr) std::fclose(file_);
}

bool SpillReader::next() {
  std::uint32_t length = 0;
  if (std::fread(&length, sizeof length, 1, file_) != 1) {
    if (std::ferror(file_) != 0) throw DiskError(errno, path_);
    return false;
  }
  record_.resize(length);
  if (std::fread(record_.data(), 1, length, file_) != length) throw DiskError(EIO, path_);
  return true;
}

std::unique_ptr<SpillFile> SpillFolder::create() {
  return std::make_unique<SpillFile>(folder_ + "/run" + std::to_string(next_++));
}

ByteSorter::ByteSorter(std::uint64_t memory, std::shared_ptr<SpillFolder> folder)
    : memory_(memory), folder_(std::move(folder)) {}

void ByteSorter::add(std::string_view record) {
  const bool text_grows = text_.size() + record.size() > text_.capacity();
  const bool places_grow = places_.size() == places_.capacity();
  if ((text_grows || places_grow) && !places_.empty()) {
    const std::uint64_t text_bytes = text_grows ? 2 * text_.capacity() + record.size() : text_.capacity();
    if (text_bytes + (places_grow ? 2 : 1) * places_.capacity() * sizeof(Place) > memory_) spill();
  }
  places_.push_back({head_of(record), text_.size(), static_cast<std::uint32_t>(record.size())});
  text_ += record;
}

void ByteSorter::sort() {
  std::sort(places_.begin(), places_.end(), [this](const Place& a, const Place& b) {
    return a.head != b.head ? a.head < b.head : at(a) < at(b);
  });
}

void ByteSorter::spill() {
  sort();
  std::unique_ptr<SpillFile> run = folder_->create();
  for (const Place& place : places_) run->write(at(place));
  run->close();
  places_.clear();
  text_.clear();
  runs_.add(std::move(run));
  runs_.tidy([this](const std::vector<std::unique_ptr<SpillFile>>& runs) {
    std::unique_ptr<SpillFile> merged = folder_->create();
    for (RunMerger<ByBytes> merger(runs, {}); !merger.done(); merger.advance()) merged->write(merger.record());
    merged->close();
    return merged;
  });
}

void ByteSorter::finish() {
  if (runs_.empty()) {
    sort();
    return;
  }
  if (!places_.empty()) spill();
  std::vector<Place>().swap(places_);
  std::string().swap(text_);
  files_ = runs_.take();
  merger_ = std::make_unique<RunMerger<ByBytes>>(files_, ByBytes{});
}

bool ByteSorter::next(std::string_view& record) {
  if (merger_ == nullptr) {
    if (next_ == places_.size()) return false;
    record = at(places_[next_++]);
    return true;
  }
  if (given_) merger_->advance();
  given_ = !merger_->done();
  if (given_) record = merger_->record();
  return given_;
}

}  // namespace smt
