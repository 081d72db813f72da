// smtplugins.plugins.localized._localized: events of blocks and learning from them, for Python. Use its modules.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bind_blocks.hpp"
#include "blocks.hpp"
#include "lexical.hpp"
#include "training.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt::localized {

void bind_scorer(nb::module_& m);

namespace {

class Finder {
 public:
  Finder(nb::bytes words, Input<std::int64_t> word_offsets, Input<std::int32_t> source_words,
         Input<std::int64_t> source_offsets, Input<std::int32_t> target_words, Input<std::int64_t> target_offsets,
         Input<std::int64_t> starts, Input<std::int32_t> target_of)
      : words_(std::move(words)),
        arrays_{std::move(source_words), std::move(target_words), std::move(target_of), std::move(source_offsets),
                std::move(target_offsets), std::move(starts)},
        finder_(strings(words_, word_offsets), checked(arrays_).sources(), arrays_.targets(), view(arrays_.starts),
                view(arrays_.target_of)) {}

  Column<std::int64_t> counts() const { return column(std::vector<std::int64_t>(finder_.counts())); }

  auto collect(const std::vector<std::string_view>& sources, const std::vector<std::string_view>& targets,
               const std::optional<Input<std::int32_t>>& links,
               const std::optional<Input<std::int64_t>>& link_offsets) {
    check(sources.size() == targets.size(), "each source sentence needs a target sentence");
    check(links.has_value() == link_offsets.has_value(), "links need offsets");
    if (link_offsets) {
      check_offsets(view(*link_offsets), links->shape(0) / 2, "offsets of links must rise to their number");
      check(link_offsets->shape(0) == sources.size() + 1, "each sentence pair needs links");
    }
    Events events;
    {
      nb::gil_scoped_release unlocked;
      const std::lock_guard<std::mutex> lock(mutex_);
      for (std::size_t i = 0; i < sources.size(); ++i) {
        std::vector<Link> own;
        if (link_offsets) {
          const auto stop = static_cast<std::size_t>((*link_offsets)(i + 1));
          for (auto k = static_cast<std::size_t>((*link_offsets)(i)); k < stop; ++k) {
            own.push_back({(*links)(2 * k), (*links)(2 * k + 1)});
          }
        }
        const std::span<const Link> given(own);
        try {
          finder_.collect(sources[i], targets[i], link_offsets ? &given : nullptr, events);
        } catch (const std::invalid_argument& error) {
          throw std::out_of_range(std::to_string(i) + " " + error.what());
        }
      }
    }
    return std::tuple(column(std::move(events.bigrams)), column(std::move(events.predecessor)),
                      column(std::move(events.successor)), column(std::move(events.orientation)),
                      column(std::move(events.neutrals)), column(std::move(events.neutral)),
                      column(std::move(events.before)), column(std::move(events.occurrences)));
  }

 private:
  static const BlockArrays& checked(const BlockArrays& arrays) {
    arrays.check_all();
    return arrays;
  }

  nb::bytes words_;
  BlockArrays arrays_;
  std::mutex mutex_;
  BlockFinder finder_;
};

Update update_of(const std::string& name) {
  if (name == "maxent") return Update::kMaxent;
  if (name == "perceptron") return Update::kPerceptron;
  throw nb::value_error("expected the update maxent or perceptron");
}

class Trainer {
 public:
  Trainer(Input<std::int64_t> sentences, Input<std::int32_t> history, Input<std::int32_t> block,
          const std::optional<Input<std::uint8_t>>& orientation, Input<std::int32_t> context,
          Input<std::int64_t> starts, std::int64_t keep, Input<float> unigram, Input<float> left, Input<float> right,
          Input<float> rest, Input<float> lexical, Input<std::int32_t> first, Input<std::int32_t> second)
      : bigrams_(first.shape(0)) {
    check_offsets(view(sentences), block.shape(0), "sentences must rise to the number of events");
    check(history.shape(0) == block.shape(0), "each event needs a history");
    check(!orientation || orientation->shape(0) == block.shape(0), "each event needs an orientation");
    check(starts.shape(0) > 0, "starts must not be empty");
    const auto blocks = static_cast<std::size_t>(starts(starts.shape(0) - 1));
    check_offsets(view(starts), blocks, "starts must rise to the number of blocks");
    check_numbers(view(history), 0, context.shape(0), "a history has no context");
    check_numbers(view(block), 0, blocks, "a block is not there");
    check(keep >= 1, "keep must be 1 or more");
    for (const auto* one : {&unigram, &left, &right, &rest, &lexical}) {
      check(one->shape(0) == blocks, "each block needs a value in each column");
    }
    check(first.shape(0) == second.shape(0), "bigrams have two blocks");
    const std::span<const std::uint8_t> none;
    const Bigrams bigrams{{first.data(), first.data() + first.shape(0)},
                          {second.data(), second.data() + second.shape(0)},
                          {}};
    for (std::size_t i = 1; i < bigrams.first.size(); ++i) {
      check(std::pair(bigrams.first[i - 1], bigrams.second[i - 1]) < std::pair(bigrams.first[i], bigrams.second[i]),
            "bigrams must be in order");
    }
    nb::gil_scoped_release unlocked;
    training_ = std::make_unique<Training>(
        EventColumns{view(sentences), view(history), view(block), orientation ? view(*orientation) : none},
        view(context), view(starts), keep,
        BlockColumns{view(unigram), view(left), view(right), view(rest), view(lexical)}, bigrams);
  }

  const Training& get() const { return *training_; }

  auto wanted() const {
    std::vector<std::int32_t> context, first, count;
    for (const auto& one : training_->wanted()) {
      context.push_back(one.context);
      first.push_back(one.first);
      count.push_back(one.count);
    }
    return std::tuple(column(std::move(context)), column(std::move(first)), column(std::move(count)));
  }
  void set_scores(Input<float> scores) { training_->set_scores(view(scores)); }

  double descend(Input<std::uint32_t> order, InOut<double> floats, InOut<float> bigrams, double rate, double decay,
                 std::uint64_t done, const std::string& update, const std::vector<bool>& learn_floats,
                 bool learn_bigrams) {
    check_numbers(view(order), 0, training_->size(), "an event is not there");
    check(learn_floats.size() == kFloats, "expected which of the five weights are learnt");
    Rule rule{update_of(update), rate, decay, {}, learn_bigrams};
    for (std::size_t f = 0; f < kFloats; ++f) rule.learn_float[f] = learn_floats[f];
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    Weights weights = weights_of(floats, bigrams);
    const double total = training_->descend(view(order), rule, done, weights);
    for (std::size_t f = 0; f < kFloats; ++f) floats(f) = weights.floats[f];
    return total;
  }

  std::tuple<double, std::size_t> loss(InOut<double> floats, InOut<float> bigrams) const {
    nb::gil_scoped_release unlocked;
    std::size_t best = 0;
    const double total = training_->loss(weights_of(floats, bigrams), best);
    return {total, best};
  }

  auto rows(std::size_t first, std::size_t last) const {
    check(first <= last && last <= training_->size(), "an event is not there");
    Rows found = training_->rows(first, last);
    return std::tuple(column(std::move(found.groups)), column(std::move(found.right)),
                      column(std::move(found.offsets)), column(std::move(found.ids)), column(std::move(found.values)),
                      column(std::move(found.block)), column(std::move(found.orientation)));
  }

 private:
  Weights weights_of(const InOut<double>& floats, const InOut<float>& bigrams) const {
    if (floats.shape(0) != kFloats || bigrams.shape(0) != bigrams_) {
      throw std::invalid_argument("expected five weights, and one for each bigram");
    }
    Weights weights{{}, {bigrams.data(), bigrams.shape(0)}};
    for (std::size_t f = 0; f < kFloats; ++f) weights.floats[f] = floats(f);
    return weights;
  }

  std::mutex mutex_;
  std::size_t bigrams_;
  std::unique_ptr<Training> training_;
};

auto number_runs(Input<std::int32_t> items, Input<std::int64_t> offsets) {
  check_offsets(view(offsets), items.shape(0), "offsets must rise to the number of words");
  std::vector<std::int64_t> kinds;
  std::vector<std::int32_t> numbers = number_phrases({view(items), view(offsets)}, kinds);
  return std::tuple(column(std::move(numbers)), column(std::move(kinds)));
}

auto count_pairs(Input<std::int32_t> predecessor, Input<std::int32_t> successor, std::int64_t threshold) {
  check(predecessor.shape(0) == successor.shape(0), "each successor needs a predecessor");
  Bigrams found;
  {
    nb::gil_scoped_release unlocked;
    found = count_bigrams(view(predecessor), view(successor), threshold);
  }
  return std::tuple(column(std::move(found.first)), column(std::move(found.second)), column(std::move(found.count)));
}

Column<double> lexical(Input<std::int32_t> source_words, Input<std::int64_t> source_offsets,
                       Input<std::int32_t> target_words, Input<std::int64_t> target_offsets,
                       Input<std::int64_t> starts, Input<std::int32_t> target_of, Input<std::int64_t> counts,
                       const std::string& relative, double floor) {
  const BlockArrays arrays{source_words, target_words, target_of, source_offsets, target_offsets, starts};
  arrays.check_all();
  check(counts.shape(0) == target_of.shape(0), "each block needs a count");
  check(relative == "source" || relative == "target", "expected relative to source or target");
  std::vector<double> found;
  {
    nb::gil_scoped_release unlocked;
    found = lexical_weights(arrays.sources(), arrays.targets(), view(starts), view(target_of), view(counts),
                            relative == "source" ? Relative::kSource : Relative::kTarget, floor);
  }
  return column(std::move(found));
}

double descend_rows(Input<std::int64_t> groups, Input<std::int64_t> right, Input<std::int64_t> offsets,
                    Input<std::int64_t> ids, Input<double> values, Input<std::uint32_t> order, InOut<double> weights,
                    Input<std::uint8_t> fixed, double rate, double decay, std::uint64_t done,
                    const std::string& update) {
  const std::size_t rows = offsets.shape(0) == 0 ? 0 : offsets.shape(0) - 1;
  check_offsets(view(offsets), ids.shape(0), "offsets must rise to the number of values");
  check_offsets(view(groups), rows, "groups must rise to the number of rows");
  check(values.shape(0) == ids.shape(0), "each value needs an id");
  check(right.shape(0) + 1 == groups.shape(0), "each group needs a right row");
  for (std::size_t i = 0; i < right.shape(0); ++i) {
    check(right(i) >= 0 && right(i) < groups(i + 1) - groups(i), "a right row is not in its group");
  }
  check_numbers(view(ids), 0, weights.shape(0), "an id has no weight");
  check_numbers(view(order), 0, right.shape(0), "an event is not there");
  check(fixed.shape(0) == weights.shape(0), "each weight needs a flag");
  const Rule rule{update_of(update), rate, decay};
  nb::gil_scoped_release unlocked;
  return descend({view(groups), view(right), view(offsets), view(ids), view(values)}, view(order), rule, done,
                 {weights.data(), weights.shape(0)}, view(fixed));
}

}  // namespace
}  // namespace smt::localized

NB_MODULE(_localized, m) {
  using namespace smt::localized;
  using smt::Input;
  m.doc() = "Events of blocks and learning from them. Use the Python modules around it.";
  m.attr("UNKNOWN") = kUnknown;
  m.attr("BOUNDARY") = kBoundary;

  nb::module_::import_("smtplugins.core._core");  // the types of scorers and language models
  bind_scorer(m);
  nb::class_<Finder>(m, "BlockFinder", "Finds blocks in sentence pairs, and their neighbours.")
      .def(nb::init<nb::bytes, Input<std::int64_t>, Input<std::int32_t>, Input<std::int64_t>, Input<std::int32_t>,
                    Input<std::int64_t>, Input<std::int64_t>, Input<std::int32_t>>(),
           "words"_a, "word_offsets"_a, "source_words"_a, "source_offsets"_a, "target_words"_a, "target_offsets"_a,
           "starts"_a, "target_of"_a)
      .def("counts", &Finder::counts, "Each block's number of occurrences so far.")
      .def("collect", &Finder::collect, "sources"_a, "targets"_a, "links"_a = nb::none(), "link_offsets"_a = nb::none(),
           "For sentence pairs: numbers of bigrams, predecessors, successors, orientations; numbers of neutral blocks, "
           "neutral blocks, two words before each; numbers of occurrences. IndexError for a link to a missing word.");
  nb::class_<Trainer>(m, "Training", "Events with their alternatives, and learning from them.")
      .def(nb::init<Input<std::int64_t>, Input<std::int32_t>, Input<std::int32_t>, std::optional<Input<std::uint8_t>>,
                    Input<std::int32_t>, Input<std::int64_t>, std::int64_t, Input<float>, Input<float>, Input<float>,
                    Input<float>, Input<float>, Input<std::int32_t>, Input<std::int32_t>>(),
           "sentences"_a, "history"_a, "block"_a, "orientation"_a.none(), "context"_a, "starts"_a, "keep"_a,
           "unigram"_a, "left"_a, "right"_a, "rest"_a, "lexical"_a, "first"_a, "second"_a)
      .def("__len__", [](const Trainer& one) { return one.get().size(); })
      .def_prop_ro("alternatives", [](const Trainer& one) { return one.get().alternatives(); },
                   "The number of alternatives, summed over events.")
      .def_prop_ro("successors", [](const Trainer& one) { return one.get().successors(); },
                   "The number of true successors of the events' histories, summed over events.")
      .def_prop_ro("memory", [](const Trainer& one) { return one.get().memory(); }, "Memory use in bytes.")
      .def("wanted", &Trainer::wanted, "Contexts, first blocks and numbers of blocks whose first words need scores.")
      .def("set_scores", &Trainer::set_scores, "scores"_a, "The scores in the order of `wanted`, block by block.")
      .def("descend", &Trainer::descend, "order"_a, "floats"_a, "bigrams"_a, "rate"_a, "decay"_a, "done"_a, "update"_a,
           "learn_floats"_a, "learn_bigrams"_a,
           "Make a step for each event of `order`, changing the weights; returns the sum of losses, each before its "
           "step.")
      .def("loss", &Trainer::loss, "floats"_a, "bigrams"_a,
           "The sum of all events' losses, and how often the right alternative scores strictly highest.")
      .def("rows", &Trainer::rows, "first"_a, "last"_a,
           "Events as rows: groups, right rows, offsets, ids, values; and the rows' blocks and orientations.");
  m.def("number_phrases", &number_runs, "items"_a, "offsets"_a,
        "The number of each distinct phrase, and the position where each comes first.");
  m.def("count_bigrams", &count_pairs, "predecessor"_a, "successor"_a, "threshold"_a,
        "The sorted pairs with a count above the threshold, and their counts.");
  m.def("lexical_weights", &lexical, "source_words"_a, "source_offsets"_a, "target_words"_a, "target_offsets"_a,
        "starts"_a, "target_of"_a, "counts"_a, "relative"_a, "floor"_a, "p(S | T) of each block.");
  m.def("descend_rows", &descend_rows, "groups"_a, "right"_a, "offsets"_a, "ids"_a, "values"_a, "order"_a, "weights"_a,
        "fixed"_a, "rate"_a, "decay"_a, "done"_a, "update"_a, "Like Training.descend, for any rows.");
}
