// The reader of ARPA files: text in, language model out.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lm/lm.hpp"

namespace smt {

struct ArpaError : std::runtime_error {
  ArpaError(std::uint64_t line_, std::string expected_, std::string found_);
  std::uint64_t line;  // counted from 1
  std::string expected;
  std::string found;
};

// Reads the text of an ARPA file, fed in pieces of any size.
class ArpaReader {
 public:
  void feed(std::string_view bytes);
  LanguageModel finish();

 private:
  enum class Section { kPreamble, kHeader, kNgrams, kEnd };

  void read_line(std::string_view line);
  void read_count(std::string_view line);
  void read_ngram(std::string_view line);
  void find_words(std::size_t count);
  void begin_section(std::string_view line);
  void end_section();
  [[noreturn]] void fail(std::string expected, std::string found) const;

  LmBuilder builder_;
  std::string partial_;  // an incomplete line
  std::vector<std::string_view> fields_;
  std::vector<std::uint64_t> counts_;
  WordId ids_[kMaxOrder] = {};  // of the previous line
  Section section_ = Section::kPreamble;
  int order_ = 0;
  std::uint64_t in_section_ = 0;
  std::uint64_t line_ = 0;
  bool closed_ = false;
};

}  // namespace smt
