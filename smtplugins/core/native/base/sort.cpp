#include "base/sort.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/memory.hpp"
#include "base/packed.hpp"

namespace smt {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 16;
constexpr std::size_t kLengthBits = 0x7F;
constexpr std::uint64_t kTrimmed = std::uint64_t{1} << 20;

std::uint64_t head_of(std::string_view text) noexcept {
  std::uint64_t head = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    head = head << 8U | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
  }
  return head;
}

}  // namespace

DiskError::DiskError(int number_, std::string path_)
    : std::runtime_error(path_ + ": " + std::strerror(number_)), number(number_), path(std::move(path_)) {}

SpillFile::SpillFile(std::string path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wb")) {
  if (file_ == nullptr) throw DiskError(errno, path_);
  std::setvbuf(file_, nullptr, _IONBF, 0);
}

SpillFile::~SpillFile() {
  if (file_ != nullptr) std::fclose(file_);
  std::remove(path_.c_str());
}

// The length comes first.
void SpillFile::write(std::string_view record) {
  append_packed(buffer_, record.size());
  buffer_ += record;
  if (buffer_.size() >= kBuffer) flush();
}

void SpillFile::flush() {
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) throw DiskError(errno, path_);
  buffer_.clear();
}

void SpillFile::close() {
  flush();
  std::string().swap(buffer_);
  std::FILE* file = std::exchange(file_, nullptr);
  if (std::fclose(file) != 0) throw DiskError(errno, path_);
}

SpillReader::SpillReader(const SpillFile& file) : path_(file.path_), file_(std::fopen(path_.c_str(), "rb")) {
  if (file_ == nullptr) throw DiskError(errno, path_);
  std::setvbuf(file_, nullptr, _IONBF, 0);
  buffer_.resize(kBuffer);
}

SpillReader::SpillReader(SpillReader&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, nullptr)),
      buffer_(std::move(other.buffer_)),
      begin_(other.begin_),
      end_(other.end_),
      record_(other.record_) {}

SpillReader::~SpillReader() {
  if (file_ != nullptr) std::fclose(file_);
}

bool SpillReader::fill(std::size_t bytes) {
  if (end_ - begin_ >= bytes) return true;
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), buffer_.begin() + static_cast<std::ptrdiff_t>(end_),
            buffer_.begin());
  end_ -= std::exchange(begin_, 0);
  if (bytes > buffer_.size()) buffer_.resize(bytes);
  end_ += std::fread(buffer_.data() + end_, 1, buffer_.size() - end_, file_);
  if (end_ < bytes && std::ferror(file_) != 0) throw DiskError(errno, path_);
  return end_ >= bytes;
}

bool SpillReader::next() {
  std::size_t length = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (!fill(1)) {
      if (shift > 0) throw DiskError(EIO, path_);
      return false;
    }
    const auto byte = static_cast<unsigned char>(buffer_[begin_++]);
    length |= (byte & kLengthBits) << shift;
    if (byte <= kLengthBits) break;
  }
  if (!fill(length)) throw DiskError(EIO, path_);
  record_ = {buffer_.data() + begin_, length};
  begin_ += length;
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
  if ((text_grows || places_grow) && bytes() >= kTrimmed) trim_memory();
}

void ByteSorter::limit(std::uint64_t memory) {
  memory_ = memory;
  if (bytes() <= memory) return;
  if (!places_.empty()) spill();
  release();
}

void ByteSorter::release() {
  std::vector<Place>().swap(places_);
  std::string().swap(text_);
  trim_memory();
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
  release();
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
