// Damaged data of a table, in words of FormatError.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace smt {

struct BadTable : std::runtime_error {
  BadTable(std::string expected_, std::string found_, std::string file_ = {})
      : std::runtime_error("expected " + expected_ + ", found " + found_),
        expected(std::move(expected_)),
        found(std::move(found_)),
        file(std::move(file_)) {}
  std::string expected;
  std::string found;
  std::string file;  // the name of the file in the table's folder
};

}  // namespace smt
