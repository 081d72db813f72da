// KenLM's binary files of all kinds: models used as mapped, and files that KenLM loads.
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
  // Throws std::system_error, KenlmFileError. `copy`: read the file instead of mapping it.
  static LanguageModel load(const std::string& path, bool copy);
  // Writes a probing file; of a model that is mapped from a file, that file. Throws std::system_error,
  // std::invalid_argument.
  static void write(const LanguageModel& model, const std::string& path);
};

}  // namespace smt
