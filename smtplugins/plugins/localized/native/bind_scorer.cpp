// Python bindings of the block features for decoders; use block_model.py.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bind_blocks.hpp"
#include "block_scorer.hpp"
#include "lm/lm.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt::localized {
namespace {

// The arrays that a model refers to, kept alive with it.
class KeptModel {
 public:
  KeptModel(nb::bytes words, Input<std::int64_t> word_offsets, Input<std::int32_t> source_words,
            Input<std::int64_t> source_offsets, Input<std::int32_t> target_words, Input<std::int64_t> target_offsets,
            Input<std::int64_t> starts, Input<std::int32_t> target_of, Input<float> unigram, Input<float> left,
            Input<float> right, Input<float> rest, Input<float> lexical, Input<std::uint8_t> no_left,
            Input<std::int32_t> first, Input<std::int32_t> second, Input<float> weights)
      : words_(std::move(words)),
        arrays_{std::move(source_words), std::move(target_words), std::move(target_of), std::move(source_offsets),
                std::move(target_offsets), std::move(starts)} {
    arrays_.check_all();
    const std::size_t columns = arrays_.target_of.shape(0) + 1;
    for (const auto* one : {&unigram, &left, &right, &rest, &lexical}) {
      check(one->shape(0) == columns, "expected a value for each block and one more in each column");
    }
    check(no_left.shape(0) == columns, "expected a value for each block and one more in each column");
    check(first.shape(0) == second.shape(0) && first.shape(0) == weights.shape(0),
          "expected two blocks and a weight for each bigram");
    for (std::size_t i = 1; i < first.shape(0); ++i) {
      check(std::pair(first(i - 1), second(i - 1)) < std::pair(first(i), second(i)), "expected sorted bigrams");
    }
    model_ = std::make_shared<const BlockModel>(
        strings(words_, word_offsets), arrays_.sources(), arrays_.targets(), view(arrays_.starts),
        view(arrays_.target_of),
        BlockValues{values_of(unigram), values_of(left), values_of(right), values_of(rest), values_of(lexical), values_of(no_left)},
        BigramValues{values_of(first), values_of(second), values_of(weights)});
  }

  const std::shared_ptr<const BlockModel>& get() const noexcept { return model_; }

  std::int32_t find(const std::vector<std::string>& source, const std::vector<std::string>& target) const {
    return model_->block(model_->source(ids(source)), model_->target(ids(target)));
  }
  float bigram(std::int32_t first, std::int32_t second) const { return model_->bigram(first, second); }
  Column<std::int32_t> words(const std::vector<std::string>& given) const { return column(ids(given)); }

 private:
  std::vector<std::int32_t> ids(const std::vector<std::string>& words) const {
    std::vector<std::int32_t> found;
    for (const std::string& word : words) found.push_back(model_->word(word));
    return found;
  }

  nb::bytes words_;
  BlockArrays arrays_;
  std::shared_ptr<const BlockModel> model_;
};

using Pairs = nb::ndarray<const std::int32_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

}  // namespace

void bind_scorer(nb::module_& m) {
  nb::class_<KeptModel>(m, "BlockModel",
                        "The features of blocks; the last number is for phrase pairs that are not blocks.")
      .def(nb::init<nb::bytes, Input<std::int64_t>, Input<std::int32_t>, Input<std::int64_t>, Input<std::int32_t>,
                    Input<std::int64_t>, Input<std::int64_t>, Input<std::int32_t>, Input<float>, Input<float>,
                    Input<float>, Input<float>, Input<float>, Input<std::uint8_t>, Input<std::int32_t>,
                    Input<std::int32_t>, Input<float>>(),
           "words"_a, "word_offsets"_a, "source_words"_a, "source_offsets"_a, "target_words"_a, "target_offsets"_a,
           "starts"_a, "target_of"_a, "unigram"_a, "left"_a, "right"_a, "rest"_a, "lexical"_a, "no_left"_a, "first"_a,
           "second"_a, "weights"_a)
      .def("find", &KeptModel::find, "source"_a, "target"_a, "The number of a phrase pair.")
      .def("bigram", &KeptModel::bigram, "first"_a, "second"_a, "The weight of a pair of blocks, 0 by default.")
      .def("words", &KeptModel::words, "words"_a, "The numbers of words, -1 for words that no block has.");
  nb::class_<AnyBlockScorer, Scorer>(m, "BlockScorer", "A scorer of block features.")
      .def(
          "set_words",
          [](AnyBlockScorer& scorer, Pairs numbers) {
            std::vector<std::int32_t> blocks(numbers.shape(0));
            std::vector<WordId> lm(numbers.shape(0));
            for (std::size_t i = 0; i < numbers.shape(0); ++i) {
              blocks[i] = numbers(i, 0);
              lm[i] = static_cast<WordId>(numbers(i, 1));
            }
            scorer.set_words(std::move(blocks), std::move(lm));
          },
          "numbers"_a, "Set the model's and the language model's ids of target words.")
      .def("set_sentence", &AnyBlockScorer::set_sentence, "words"_a, "Set the source words.")
      .def("forbid_left", &AnyBlockScorer::forbid_left, "forbidden"_a,
           "Set whether blocks marked rare-left are forbidden on the left.");
  m.def(
      "block_scorer",
      [](const KeptModel& model, const LanguageModel& lm, bool end) {
        return make_block_scorer(model.get(), lm.tables(), end);
      },
      "model"_a, "lm"_a, "end"_a, nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(), "A scorer for a single thread.");
}

}  // namespace smt::localized
