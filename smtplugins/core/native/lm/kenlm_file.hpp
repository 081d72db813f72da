// KenLM's probing files: models used as mapped, and files that KenLM loads.
#pragma once

#include <stdexcept>
#include <string>

#include "lm/lm.hpp"

namespace smt {

struct KenlmFileError : std::runtime_error {
  KenlmFileError(std::string expected_, std::string found_)
      : std::runtime_error("expected " + expected_ + ", found " + found_),
        expected(std::move(expected_)),
        found(std::move(found_)) {}
  std::string expected;
  std::string found;
};

class KenlmFile {
 public:
  // A whole KenLM file of another kind (a trie, quantised, with rest costs).
  struct OtherKind {};

  // Throws std::system_error, KenlmFileError, OtherKind. `copy`: read the file instead of mapping it.
  static LanguageModel load(const std::string& path, bool copy);
  // Throws std::system_error, std::invalid_argument.
  static void write(const LanguageModel& model, const std::string& path);
};

}  // namespace smt
