#include "lines.hpp"

#include <stdexcept>
#include <utility>

#include "bytes.hpp"

namespace smt {

void LineScanner::check_open() const {
  if (closed_) throw std::logic_error("the scanner is closed");
  if (faulty_) throw std::logic_error("the scanner stands at a bad line");
}

bool LineScanner::feed(std::string_view bytes) {
  check_open();
  if (!kept_.empty()) {
    const std::size_t cut = bytes.find('\n') + 1;  // npos + 1 is 0
    kept_.append(bytes.substr(0, cut == 0 ? bytes.size() : cut));
    bytes.remove_prefix(cut == 0 ? bytes.size() : cut);
    if (cut > 0 && !scan_kept()) {
      kept_.append(bytes);
      return false;
    }
  }
  if (bytes.size() > kPadding) {
    // Scan in place while the last line has enough readable bytes after it.
    const std::size_t whole = bytes.substr(0, bytes.size() - kPadding).rfind('\n') + 1;
    const char* const rest = scan(bytes.data(), bytes.data() + whole);
    bytes.remove_prefix(static_cast<std::size_t>(rest - bytes.data()));
    if (faulty_) {
      kept_.assign(bytes);
      return false;
    }
  }
  kept_.append(bytes);
  const std::size_t start = kept_.rfind('\n') + 1;
  if (kept_.size() - start > max_bytes_) {
    const std::string line = kept_.substr(start);
    kept_.resize(start);
    if (!scan_kept()) return false;
    ++line_;
    fail(line);
    return false;
  }
  return true;
}

bool LineScanner::resume() {
  if (!std::exchange(faulty_, false)) throw std::logic_error("the scanner stands at no bad line");
  if (ending_) return finish();
  return feed(std::exchange(kept_, {}));
}

bool LineScanner::finish() {
  check_open();
  if (!std::exchange(ending_, true)) {
    open_ = !kept_.empty() && kept_.back() != '\n';
    if (open_) kept_ += '\n';
  }
  if (!scan_kept()) return false;
  closed_ = true;
  return true;
}

// Scans the kept text, which ends in a newline; keeps the rest after a bad line.
bool LineScanner::scan_kept() {
  const std::size_t size = kept_.size();
  kept_.append(kPadding, '\0');
  const char* const rest = scan(kept_.data(), kept_.data() + size);
  kept_.resize(size);
  kept_.erase(0, static_cast<std::size_t>(rest - kept_.data()));
  return !faulty_;
}

// Returns the end, or the position after a bad line.
const char* LineScanner::scan(const char* begin, const char* end) {
  forget_wide_registers();
  forget_text();
  for (const char* p = begin; p < end;) {
    ++line_;
    if (*p == '\n' && skips_empty_lines()) {
      ++p;
      continue;
    }
    const char* const last = scan_line(p);
    const bool own_end = !open_ || last == nullptr || last + 1 < end;
    const bool fits = last != nullptr && static_cast<std::size_t>(last - p) + own_end <= max_bytes_;
    if (!fits) [[unlikely]] {
      std::string_view text(p, static_cast<std::size_t>(end - p));
      text = text.substr(0, text.find('\n') + 1);
      p += text.size();
      if (open_ && p == end) text.remove_suffix(1);
      fail(text);
      return p;
    }
    p = last + 1;
  }
  return end;
}

void LineScanner::fail(std::string_view text) {
  undo();
  faulty_ = true;
  fault_ = text;
}

}  // namespace smt
