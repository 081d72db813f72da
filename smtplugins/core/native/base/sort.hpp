// Sorting with bounded memory: runs are sorted in memory, spilled to files and merged.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smt {

// An error of the disk.
struct DiskError : std::runtime_error {
  DiskError(int number_, std::string path_);
  int number;
  std::string path;
};

// A file of records that is written once, read any number of times, and finally removed.
class SpillFile {
 public:
  explicit SpillFile(std::string path);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;
  void write(std::string_view record);
  void close();

 private:
  friend class SpillReader;
  void flush();

  std::string path_;
  std::string buffer_;
  std::FILE* file_ = nullptr;
};

class SpillReader {
 public:
  explicit SpillReader(const SpillFile& file);
  ~SpillReader();
  SpillReader(SpillReader&& other) noexcept;
  SpillReader& operator=(SpillReader&&) = delete;
  bool next();                                                  // false at the end
  std::string_view record() const noexcept { return record_; }  // valid until the next record

 private:
  bool fill(std::size_t bytes);  // buffers this many bytes; false if the file has fewer

  std::string path_;
  std::FILE* file_ = nullptr;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of what is not yet read in the buffer
  std::string_view record_;
};

// The folder of spilled files; it must exist and be empty.
class SpillFolder {
 public:
  explicit SpillFolder(std::string folder) : folder_(std::move(folder)) {}
  std::unique_ptr<SpillFile> create();

 private:
  std::string folder_;
  std::uint64_t next_ = 0;
};

inline constexpr std::size_t kMaxRuns = 48;

// Merges sorted runs. Less(a, b) orders records; equal ones come in the order of their runs.
template <class Less>
class RunMerger {
 public:
  RunMerger(const std::vector<std::unique_ptr<SpillFile>>& runs, Less less) : less_(less) {
    readers_.reserve(runs.size());
    for (const auto& run : runs) readers_.emplace_back(*run);
    for (std::size_t i = 0; i < readers_.size(); ++i) {
      if (readers_[i].next()) heap_.push_back(i);
    }
    for (std::size_t i = heap_.size(); i-- > 0;) sink(i);
  }
  bool done() const noexcept { return heap_.empty(); }
  std::string_view record() const noexcept { return readers_[heap_[0]].record(); }
  void advance() {
    if (!readers_[heap_[0]].next()) {
      heap_[0] = heap_.back();
      heap_.pop_back();
    }
    if (!heap_.empty()) sink(0);
  }

 private:
  bool before(std::size_t a, std::size_t b) const {
    const std::string_view left = readers_[a].record(), right = readers_[b].record();
    if (less_(left, right)) return true;
    return !less_(right, left) && a < b;
  }
  void sink(std::size_t at) {
    while (true) {
      std::size_t least = at;
      for (const std::size_t child : {2 * at + 1, 2 * at + 2}) {
        if (child < heap_.size() && before(heap_[child], heap_[least])) least = child;
      }
      if (least == at) return;
      std::swap(heap_[at], heap_[least]);
      at = least;
    }
  }

  Less less_;
  std::vector<SpillReader> readers_;
  std::vector<std::size_t> heap_;
};

// A bounded number of sorted runs: many runs of one size are merged into a larger one.
class Runs {
 public:
  void add(std::unique_ptr<SpillFile> run) {
    if (levels_.empty()) levels_.emplace_back();
    levels_[0].push_back(std::move(run));
  }
  bool empty() const noexcept { return levels_.empty(); }
  // Merges runs of one size when there are too many, by merge(runs), which returns the larger run.
  template <class Merge>
  void tidy(Merge merge) {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      if (levels_[level].size() < kMaxRuns) continue;
      std::unique_ptr<SpillFile> merged = merge(levels_[level]);
      levels_[level].clear();
      if (level + 1 == levels_.size()) levels_.emplace_back();
      levels_[level + 1].push_back(std::move(merged));
    }
  }
  std::vector<std::unique_ptr<SpillFile>> take() {
    std::vector<std::unique_ptr<SpillFile>> all;
    for (auto& level : levels_) {
      for (auto& run : level) all.push_back(std::move(run));
    }
    levels_.clear();
    return all;
  }

 private:
  std::vector<std::vector<std::unique_ptr<SpillFile>>> levels_;
};

// Sorts records by bytes, in memory up to a limit, else through files.
class ByteSorter {
 public:
  ByteSorter(std::uint64_t memory, std::shared_ptr<SpillFolder> folder);
  void add(std::string_view record);
  void limit(std::uint64_t memory);  // from now on
  void finish();                     // no record may be added afterwards
  bool next(std::string_view& record);

 private:
  struct ByBytes {
    bool operator()(std::string_view a, std::string_view b) const noexcept { return a < b; }
  };
  struct Place {
    std::uint64_t head;  // the first bytes
    std::uint64_t begin;
    std::uint32_t length;
  };
  std::string_view at(const Place& place) const noexcept {
    return std::string_view(text_).substr(place.begin, place.length);
  }
  std::uint64_t bytes() const noexcept { return text_.capacity() + places_.capacity() * sizeof(Place); }
  void sort();
  void spill();
  void release();

  std::uint64_t memory_;
  std::shared_ptr<SpillFolder> folder_;
  std::string text_;
  std::vector<Place> places_;
  Runs runs_;
  std::vector<std::unique_ptr<SpillFile>> files_;
  std::unique_ptr<RunMerger<ByBytes>> merger_;
  std::size_t next_ = 0;
  bool given_ = false;
};

}  // namespace smt
