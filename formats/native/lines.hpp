// Text fed in pieces and scanned by lines. A line that cannot be read is set aside for someone else to read.
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

  // The next piece of the file, cut anywhere. False at a line that cannot be read: `fault` holds it with its end, and
  // `resume` goes on behind it.
  bool feed(std::string_view bytes);
  bool resume();
  // The same for the end of the file.
  bool finish();

  std::string_view fault() const noexcept { return fault_; }
  std::uint64_t lines() const noexcept { return line_; }

 protected:
  // Reads the line at p and gives its end, or null if it cannot. Behind the end of the text there
  // are kPadding readable bytes.
  virtual const char* scan_line(const char* p) = 0;
  // Forgets what was kept of a line that could not be read.
  virtual void undo() = 0;
  // The text of the lines before is there no longer.
  virtual void forget_text() {}
  // Else they are lines like others.
  virtual bool skips_empty_lines() const noexcept { return true; }

 private:
  const char* scan(const char* begin, const char* end);
  bool scan_kept();
  void fail(std::string_view text);
  void check_open() const;

  std::size_t max_bytes_;
  std::string kept_;   // what is behind the last line scanned
  std::string fault_;  // the line that could not be read
  std::uint64_t line_ = 0;
  bool faulty_ = false;
  bool ending_ = false;  // nothing comes behind what is kept
  bool open_ = false;    // and its last line has no end of its own
  bool closed_ = false;
};

}  // namespace smt
