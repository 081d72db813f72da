// The estimation of language models, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bind/bindings.hpp"
#include "lm/kneser_ney.hpp"
#include "lm/lm.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

// The text may be fed without the GIL, so the object has one of its own.
class LockedKneserNey {
 public:
  LockedKneserNey(int order, std::vector<std::uint64_t> prune, std::optional<Discounts> fallback, std::uint64_t memory,
                  std::uint64_t vocabulary_size)
      : estimator_(checked(order, std::move(prune), fallback, memory, vocabulary_size)) {}
  void feed(nb::bytes bytes) {
    const std::string_view text(bytes.c_str(), bytes.size());
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    estimator_.feed(text);
  }
  void spill(std::string folder) {
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    estimator_.spill(std::move(folder));
  }
  KneserNeyModel finish(const std::optional<std::vector<std::string>>& vocabulary) {
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    return estimator_.finish(vocabulary);
  }
  StreamedModel finish_streamed(const std::optional<std::vector<std::string>>& vocabulary) {
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    return estimator_.finish_streamed(vocabulary);
  }

 private:
  static KneserNeyOptions checked(int order, std::vector<std::uint64_t> prune, std::optional<Discounts> fallback,
                                  std::uint64_t memory, std::uint64_t vocabulary_size) {
    if (order < 1 || order > kMaxOrder) {
      throw nb::value_error(("the order must be from 1 to " + std::to_string(kMaxOrder)).c_str());
    }
    if (prune.size() != static_cast<std::size_t>(order)) throw nb::value_error("expected a threshold for each order");
    for (std::size_t i = 1; i < prune.size(); ++i) {
      if (prune[i] < prune[i - 1]) throw nb::value_error("thresholds must not fall");
    }
    for (std::size_t i = 0; fallback && i < 3; ++i) {
      const float discount = (*fallback)[i];
      if (!(discount >= 0.0F && discount <= static_cast<float>(i + 1))) {
        throw nb::value_error("a discount must be from 0 to the count it is for");
      }
    }
    return {order, std::move(prune), fallback, memory, vocabulary_size};
  }

  std::mutex mutex_;
  KneserNey estimator_;
};

void check_order(const EstimatedModel& model, int order) {
  if (order < 1 || order > model.order()) throw nb::index_error("the model has no such order");
}

std::uint64_t count(const EstimatedModel& model, int order) {
  check_order(model, order);
  return model.counts[static_cast<std::size_t>(order - 1)];
}

nb::bytes rows(const KneserNeyModel& model, int order, std::size_t begin, std::size_t end) {
  check_order(model, order);
  std::string text;
  {
    nb::gil_scoped_release unlocked;
    text = model.rows(order, begin, end);
  }
  return nb::bytes(text.data(), text.size());
}

class LockedRows {
 public:
  explicit LockedRows(const StreamedModel& model) : rows_(model) {}
  nb::bytes rows(int order, std::size_t begin, std::size_t end) {
    std::string text;
    {
      nb::gil_scoped_release unlocked;
      const std::lock_guard<std::mutex> lock(mutex_);
      text = rows_.rows(order, begin, end);
    }
    return nb::bytes(text.data(), text.size());
  }

 private:
  std::mutex mutex_;
  StreamedRows rows_;
};

// A word of the text may be any bytes.
nb::object decode(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

template <class... Arguments>
void raise(const char* type, Arguments... arguments) {
  const nb::object error = nb::module_::import_("smtplugins.core.lm.estimate").attr(type);
  const nb::object value = error(arguments...);
  PyErr_SetObject(error.ptr(), value.ptr());
}

void raise_errors(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const TextError& error) {
    raise("BadText", error.line, decode(error.expected), decode(error.found));
  } catch (const DiscountError& error) {
    raise("NoDiscounts", error.order, decode(error.reason));
  } catch (const MemoryLimitError& error) {
    raise("EstimateTooLarge", error.needed, error.allowed);
  }
}

}  // namespace

void bind_kneser_ney(nb::module_& m) {
  nb::register_exception_translator(raise_errors);

  nb::class_<EstimatedModel>(m, "EstimatedModel", "An estimated model without its n-grams.")
      .def_prop_ro("order", &EstimatedModel::order, "The length of the longest n-grams.")
      .def("count", &count, "order"_a, "The number of n-grams of an order.")
      .def_ro("discounts", &EstimatedModel::discounts,
              "For each order the discounts of adjusted counts of 1, 2, and 3 or more.")
      .def_ro("fallen_back", &EstimatedModel::fallen_back, "The orders that use the fallback discounts.")
      .def_ro("sentences", &EstimatedModel::sentences, "The number of lines of the text.")
      .def_ro("words", &EstimatedModel::words, "The number of words of the text, without sentence ends.")
      .def_ro("peak_bytes", &EstimatedModel::peak_bytes, "The peak memory of the estimation, in bytes.");

  nb::class_<KneserNeyModel, EstimatedModel>(m, "KneserNeyModel", "An estimated model, as the lines of an ARPA file.")
      .def("rows", &rows, "order"_a, "begin"_a, "end"_a, "The lines of n-grams from begin to end.");

  nb::class_<StreamedModel, EstimatedModel>(m, "StreamedKneserNeyModel",
                                            "An estimated model whose n-grams are in the folder it was spilled to.");
  nb::class_<LockedRows>(m, "StreamedRows", "Compute the probabilities of a streamed model, as the lines of an ARPA file.")
      .def(nb::init<const StreamedModel&>(), "model"_a, nb::keep_alive<1, 2>())
      .def("rows", &LockedRows::rows, "order"_a, "begin"_a, "end"_a,
           "The lines of n-grams from begin to end, to be asked for from the first to the last.");

  nb::class_<LockedKneserNey>(m, "KneserNey",
                              "Estimate a model from a text fed in pieces of any size, a sentence a line.")
      .def(nb::init<int, std::vector<std::uint64_t>, std::optional<Discounts>, std::uint64_t, std::uint64_t>(),
           "order"_a, "prune"_a, "fallback"_a.none(), "memory"_a, "vocabulary_size"_a = 0)
      .def("feed", &LockedKneserNey::feed, "data"_a)
      .def("finish", &LockedKneserNey::finish, "vocabulary"_a.none() = nb::none(),
           "The model; the object is used up. With a vocabulary, n-grams with other words are left out.")
      .def("spill", &LockedKneserNey::spill, "folder"_a,
           "Go on in files in this empty folder, after feed() or finish() raised EstimateTooLarge.")
      .def("finish_streamed", &LockedKneserNey::finish_streamed, "vocabulary"_a.none() = nb::none(),
           "The model, after spill().");
}

}  // namespace smt
