// Scan text, fed in pieces, line by line. A line that the scanner cannot read is handed to the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace smt {

class LineScanner {
 public:
  explicit LineScanner(std::size_t max_bytes) noexcept : max_bytes_(max_bytes) {}
  LineScanner(const LineScanner&) = delete;
  LineScanner& operator=(const LineScanner&) = delete;
  virtual ~LineScanner() = default;

  // Scans the next piece of the file, split anywhere. False at a line that cannot be read: `fault` holds it with its
  // newline, and `resume` continues after it.
  bool feed(std::string_view bytes);
  bool resume();
  // Ends the file; like `feed`.
  bool finish();

  std::string_view fault() const noexcept { return fault_; }
  std::uint64_t lines() const noexcept { return line_; }

 protected:
  // Reads the line at p and returns its end, or null if it cannot. The text has kPadding readable bytes after its end.
  virtual const char* scan_line(const char* p) = 0;
  // Removes what was stored of a line that could not be read.
  virtual void undo() = 0;
  // Called when the text of earlier lines is no longer in memory.
  virtual void forget_text() {}
  // Whether empty lines are skipped instead of scanned.
  virtual bool skips_empty_lines() const noexcept { return true; }

 private:
  const char* scan(const char* begin, const char* end);
  bool scan_kept();
  void fail(std::string_view text);
  void check_open() const;

  std::size_t max_bytes_;
  std::string kept_;   // text after the last scanned line
  std::string fault_;  // the line that could not be read
  std::uint64_t line_ = 0;
  bool faulty_ = false;
  bool ending_ = false;  // no text follows the kept text
  bool open_ = false;    // and its last line has no newline
  bool closed_ = false;
};

}  // namespace smt
