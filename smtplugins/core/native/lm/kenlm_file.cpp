#include "lm/kenlm_file.hpp"

#include "lm/kenlm_parts.hpp"
#include "lm/kenlm_trie.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <system_error>
#include <vector>

namespace smt {
namespace {

// The start of the file: a magic line and numbers that show the number formats of the writing machine.
struct Sanity {
  char magic[56] = "mmap lm http://kheafield.com/code format version 5\n";
  float zero = 0.0F;
  float one = 1.0F;
  float minus_half = -0.5F;
  std::uint32_t one_word = 1;
  std::uint32_t greatest_word = 0xFFFFFFFFU;
  std::uint32_t zero_word = 0;
  std::uint64_t one_long = 1;
};
static_assert(sizeof(Sanity) == 88);

struct Parameters {
  std::uint8_t order = 0;
  std::uint8_t padding[3] = {};
  float multiplier = 0.0F;
  std::uint32_t kind = 0;
  std::uint8_t has_spellings = 0;
  std::uint8_t more_padding[3] = {};
  std::uint32_t version = 0;
};
static_assert(sizeof(Parameters) == 20);

struct VocabularyHeader {
  std::uint32_t version = 0;
  std::uint32_t words = 0;
};

// KenLM's kinds of models.
constexpr std::uint32_t kProbing = 0;
constexpr std::uint32_t kRestProbing = 1;
constexpr std::uint32_t kTrie = 2;  // 3: quantised, 4: with compressed pointers, 5: both
constexpr std::uint32_t kKinds = 6;
constexpr const char* kKindNames[kKinds] = {
    "probing", "probing, rest costs", "trie", "trie, quantised", "trie, compressed pointers",
    "trie, quantised, compressed pointers"};
constexpr std::uint64_t kMaxEntries = std::uint64_t{1} << 40U;
constexpr float kMaxMultiplier = 100.0F;

std::size_t header_size(std::size_t order) {
  return (sizeof(Sanity) + sizeof(Parameters) + order * sizeof(std::uint64_t) + 7) / 8 * 8;
}

Parameters read_parameters(FileParts& parts) {
  static const Sanity sanity;
  const std::byte* const start = parts.take(sizeof(Sanity) + sizeof(Parameters), "a header");
  if (std::memcmp(start, sanity.magic, sizeof sanity.magic) != 0) {
    throw KenlmFileError("a KenLM file of format version 5, complete (build_binary makes one of the ARPA file)",
                         "another version or an unfinished file");
  }
  if (std::memcmp(start, &sanity, sizeof sanity) != 0) {
    throw KenlmFileError("a KenLM file from this kind of machine", "numbers kept in another way");
  }
  const auto parameters = load<Parameters>(start + sizeof(Sanity));
  if (parameters.kind >= kKinds) {
    throw KenlmFileError("a kind from 0 to " + std::to_string(kKinds - 1), std::to_string(parameters.kind));
  }
  const std::uint32_t version = parameters.kind >= kTrie ? 1 : 0;
  if (parameters.version != version) {
    throw KenlmFileError("version " + std::to_string(version) + " of the tables", std::to_string(parameters.version));
  }
  if (parameters.order < 2 || parameters.order > kMaxOrder) {
    throw KenlmFileError("n-grams of 2 to " + std::to_string(kMaxOrder) + " words", std::to_string(parameters.order));
  }
  if (!(parameters.multiplier >= 1.0F && parameters.multiplier <= kMaxMultiplier)) {
    throw KenlmFileError("room for 1 to 100 times the n-grams", std::to_string(parameters.multiplier));
  }
  if (parameters.has_spellings > 1) {
    throw KenlmFileError("0 or 1: whether the words are there", std::to_string(parameters.has_spellings));
  }
  return parameters;
}

// Takes the vocabulary and the tables of a probing file.
void read_probing(FileParts& parts, const std::vector<std::uint64_t>& counts, const Parameters& parameters,
                  LmTables& tables) {
  const auto words = load<VocabularyHeader>(parts.take(sizeof(VocabularyHeader), "vocabulary"));
  if (words.version != 0) throw KenlmFileError("version 0 of the vocabulary", std::to_string(words.version));
  if (words.words == 0 || words.words > counts[0] + 1 ||
      words.words > static_cast<std::uint32_t>(std::numeric_limits<WordId>::max())) {
    throw KenlmFileError("1 to " + counted(counts[0] + 1, "word"), std::to_string(words.words));
  }
  tables.words = static_cast<WordId>(words.words);
  const float multiplier = parameters.multiplier;
  tables.vocabulary = parts.table<WordTable>(counts[0], multiplier, "words");
  for (std::uint64_t i = 0; i < tables.vocabulary.slots(); ++i) {
    const auto id = load<std::uint32_t>(tables.vocabulary.data() + i * WordTable::kSlot + 8);
    if (id >= words.words) {
      throw KenlmFileError("ids below " + std::to_string(words.words) + " in the vocabulary", std::to_string(id));
    }
  }
  const bool rest = parameters.kind == kRestProbing;
  if (rest) tables.layout = LmLayout::kRestProbing;
  tables.unigrams = parts.take((counts[0] + 1) * (rest ? sizeof(RestWeights) : sizeof(Weights)), "1-grams");
  const std::size_t order = counts.size();
  for (std::size_t n = 2; n < order; ++n) {
    const std::string what = std::to_string(n) + "-grams";
    if (rest) {
      tables.rests[n - 2] = parts.table<RestTable>(counts[n - 1], multiplier, what);
    } else {
      tables.middles[n - 2] = parts.table<MiddleTable>(counts[n - 1], multiplier, what);
    }
  }
  tables.longest = parts.table<LongestTable>(counts[order - 1], multiplier, std::to_string(order) + "-grams");
}

// The offset of each word of the file, and the end.
std::vector<std::uint64_t> read_spellings(FileParts& parts, std::uint64_t words) {
  std::vector<std::uint64_t> offsets{0};
  offsets.reserve(words + 1);
  const auto* const text = reinterpret_cast<const char*>(parts.at());
  const char* at = text;
  const char* const end = text + parts.left();
  while (offsets.size() <= words) {
    const void* const stop = at == end ? nullptr : std::memchr(at, 0, static_cast<std::size_t>(end - at));
    if (stop == nullptr) {
      throw KenlmFileError(counted(words, "word"), "the end of the file after " + std::to_string(offsets.size() - 1));
    }
    at = static_cast<const char*>(stop) + 1;
    offsets.push_back(static_cast<std::uint64_t>(at - text));
  }
  if (!is_unknown({text, offsets[1] - 1})) throw KenlmFileError("<unk> as the first word", "another one");
  parts.take(offsets.back(), "words");
  return offsets;
}

class File {
 public:
  explicit File(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {
    if (file_ == nullptr) fail();
  }
  ~File() {
    if (file_ != nullptr) std::fclose(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  void write(const void* data, std::size_t bytes) {
    if (bytes != 0 && std::fwrite(data, 1, bytes, file_) != bytes) fail();
  }
  void close() {
    if (std::fclose(std::exchange(file_, nullptr)) != 0) fail();
  }

 private:
  [[noreturn]] static void fail() { throw std::system_error(errno, std::generic_category()); }
  std::FILE* file_;
};

}  // namespace

LanguageModel KenlmFile::load(const std::string& path, bool copy) {
  LanguageModel model;
  model.memory_.push_back(Memory::of_file(path, copy));
  FileParts parts(model.memory_[0]);
  const Parameters parameters = read_parameters(parts);
  const std::size_t order = parameters.order;
  parts = FileParts(model.memory_[0]);
  const std::byte* const header = parts.take(header_size(order), "a header");
  for (std::size_t i = 0; i < order; ++i) {
    const auto count = smt::load<std::uint64_t>(header + sizeof(Sanity) + sizeof(Parameters) + 8 * i);
    if (count > kMaxEntries) {
      throw KenlmFileError("at most " + counted(kMaxEntries, std::to_string(i + 1) + "-gram"), std::to_string(count));
    }
    model.counts_.push_back(count);
  }

  LmTables& tables = model.tables_;
  tables.order = parameters.order;
  if (parameters.kind >= kTrie) {
    read_trie(parts, model.counts_, {(parameters.kind - kTrie) % 2 != 0, parameters.kind - kTrie >= 2}, tables);
  } else {
    read_probing(parts, model.counts_, parameters, tables);
  }
  if (parameters.has_spellings != 0) {
    model.spellings_ = reinterpret_cast<const char*>(parts.at());
    model.offsets_ = read_spellings(parts, static_cast<std::uint64_t>(tables.words));
  }
  if (parts.left() != 0) throw KenlmFileError("the end of the file", counted(parts.left(), "byte") + " more");
  tables.begin = model.find("<s>");
  tables.end = model.find("</s>");
  model.kind_ = kKindNames[parameters.kind];
  return model;
}

void KenlmFile::write(const LanguageModel& model, const std::string& path) {
  const LmTables& tables = model.tables_;
  if (model.order() < 2) throw std::invalid_argument("KenLM has no files for models of single words");
  File file(path);
  if (model.unigrams_.empty()) {  // the model is mapped from such a file
    file.write(model.memory_[0].data(), model.memory_[0].size());
    file.close();
    return;
  }
  const Sanity sanity;
  Parameters parameters;
  parameters.order = static_cast<std::uint8_t>(model.order());
  parameters.multiplier = kMultiplier;
  parameters.has_spellings = 1;
  std::vector<std::byte> header(header_size(model.counts_.size()));
  std::memcpy(header.data(), &sanity, sizeof sanity);
  std::memcpy(header.data() + sizeof sanity, &parameters, sizeof parameters);
  std::memcpy(header.data() + sizeof sanity + sizeof parameters, model.counts_.data(), 8 * model.counts_.size());
  file.write(header.data(), header.size());
  const VocabularyHeader words{0, static_cast<std::uint32_t>(tables.words)};
  file.write(&words, sizeof words);
  const auto write = [&file](const auto& table) {
    file.write(table.data(), table.slots() * std::decay_t<decltype(table)>::kSlot);
  };
  write(tables.vocabulary);
  file.write(tables.unigrams, (model.counts_[0] + 1) * sizeof(Weights));
  for (int n = 2; n < model.order(); ++n) write(tables.middles[n - 2]);
  write(tables.longest);
  file.write(model.text_.data(), model.text_.size());
  file.close();
}

}  // namespace smt
