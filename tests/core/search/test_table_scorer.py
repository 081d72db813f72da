"""Features in C in searches: a table that checks what its header promises, and scores that Python gives, too."""

from __future__ import annotations

import ctypes
import gc
import itertools
import math
import random
import shutil
import subprocess
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtplugins.contracts.adapters import SimpleStateful
from smtplugins.contracts.data import Sentence
from smtplugins.core._core import Scorers
from smtplugins.core.search.search_options import SearchOptions
from smtplugins.core.search.stateful_search import (
    NativeFault,
    Stateful,
    contract_scorer,
    lm_scorer,
    native_scorer,
    native_words,
    start_native,
)
from smtplugins.core.search.stateful_search import (
    searcher as searcher_of,
)
from smtplugins.core.vocabulary import Vocabulary
from smtplugins.include import get_include
from tests.core.forests import (
    WORDS,
    Made,
    Words,
    glue_forest,
    language_model,
    lm_score,
    pair_model,
    random_forest,
    refined_derivations,
    same,
    searcher,
)

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")

TEMPLATE = Path(__file__).resolve().parents[3] / "examples/plugin-template/native/repetition.c"
SEEDS = st.integers(0, 1 << 30)
WEIGHTS = [0.7, 0.25, -0.5]

# Values of neighbouring words by their spelling, numbers of words, and what the sentence holds. `mode` is what a
# prototype does wrong.
SOURCE = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "smt_feature.h"

typedef struct {
  int32_t first, last; /* -1 both, for a string without words */
} state;

typedef struct {
  smt_feature_v1 table;
  int mode;
  int started;
  const smt_sentence_v1 *sentence;
  double told; /* what the sentence holds */
} pairs;

int32_t live_clones(void);
int32_t calls_with_lock(void);
static int32_t live, locked;
int32_t live_clones(void) { return __atomic_load_n(&live, __ATOMIC_SEQ_CST); }
int32_t calls_with_lock(void) { return __atomic_load_n(&locked, __ATOMIC_SEQ_CST); }

static void count_lock(void) {
  static int (*held)(void);
  if (!held) *(void **)&held = dlsym(RTLD_DEFAULT, "PyGILState_Check");
  if (held && held()) __atomic_add_fetch(&locked, 1, __ATOMIC_SEQ_CST);
}

static int fault(smt_error_v1 *error, const char *why) {
  snprintf(error->message, sizeof error->message, "%s", why);
  return 1;
}

static unsigned sum_of(const char *text) {
  unsigned sum = 7;
  for (; *text; ++text) sum = sum * 31 + (unsigned char)*text;
  return sum;
}

static double value(const pairs *own, int32_t left, int32_t right) {
  const smt_vocabulary_v1 *words = own->sentence->words;
  size_t length = 0;
  const char *a = left < 0 ? "<s>" : words->word(words, left, NULL);
  const char *b = right < 0 ? "</s>" : words->word(words, right, &length);
  if (!a) a = "?";
  if (!b) b = "?";
  return (double)((sum_of(a) * 31 + sum_of(b)) % 1000) / 100 - 5;
}

static double score(const pairs *own, const smt_edges_v1 *edges, int64_t i, state *whole, double *words) {
  const int32_t *symbol = edges->target + edges->target_offsets[i];
  const int32_t *end = edges->target + edges->target_offsets[i + 1];
  double total = 0;
  whole->first = whole->last = -1;
  for (; symbol < end; ++symbol) {
    state part = {*symbol, *symbol};
    *words += *symbol >= 0;
    if (smt_is_child(*symbol)) {
      if (!edges->tails) {
        whole->last = -1;
        continue;
      }
      part = *(const state *)edges->tails[edges->tail_offsets[i] + smt_child(*symbol)];
      if (part.first < 0) continue;
    }
    if (whole->last >= 0) total += value(own, whole->last, part.first);
    if (whole->first < 0) whole->first = part.first;
    whole->last = part.last;
  }
  return total;
}

static int start(smt_feature_v1 *feature, const smt_sentence_v1 *sentence, smt_error_v1 *error) {
  pairs *own = feature->self;
  count_lock();
  if (error->message[0]) return fault(error, "the error buffer is not empty");
  if (own->mode == 1) return fault(error, "no \xff thanks");
  own->sentence = sentence;
  own->started = 1;
  own->told = (double)strlen(sentence->id) + 10 * (double)sentence->token_count;
  for (int64_t i = 0; i < sentence->token_count; ++i) own->told += 0.5 * (double)strlen(sentence->tokens[i]);
  for (int64_t i = 0; i < sentence->annotation_count; ++i) {
    if (!strcmp(sentence->annotation_names[i], "bonus")) own->told += atof(sentence->annotation_values[i]);
  }
  return 0;
}

static int combine_batch(smt_feature_v1 *feature, const smt_edges_v1 *edges, double *scores, void *states,
                         smt_error_v1 *error) {
  pairs *own = feature->self;
  state *results = states;
  count_lock();
  if (error->message[0]) return fault(error, "the error buffer is not empty");
  if (!own->started || edges->count < 1) return fault(error, "not begun, or an empty batch");
  if (!edges->target || !edges->tails) return fault(error, "an array is missing");
  if ((uintptr_t)states % SMT_STATE_ALIGNMENT) return fault(error, "states are not aligned");
  if (own->mode == 2) return fault(error, "cannot combine");
  if (own->mode == 5) return 3;
  for (int64_t i = 0; i < edges->count; ++i) {
    int32_t child = 0;
    for (int64_t k = edges->target_offsets[i]; k < edges->target_offsets[i + 1]; ++k) {
      if (smt_is_child(edges->target[k]) && smt_child(edges->target[k]) != child++) {
        return fault(error, "children are not numbered as they stand");
      }
    }
    if (edges->tail_offsets[i + 1] - edges->tail_offsets[i] != child) return fault(error, "tails are not the children");
    for (int64_t k = edges->tail_offsets[i]; k < edges->tail_offsets[i + 1]; ++k) {
      if ((uintptr_t)edges->tails[k] % SMT_STATE_ALIGNMENT) return fault(error, "a tail is not aligned");
      if (edges->tails[k] == (void *)&results[i]) return fault(error, "a state overlaps a tail");
    }
    for (size_t k = 0; k < sizeof(state); ++k) {
      if (((char *)&results[i])[k]) return fault(error, "states are not zeroed");
    }
    scores[3 * i + 1] = scores[3 * i + 2] = 0;
    scores[3 * i] = score(own, edges, i, &results[i], &scores[3 * i + 1]);
    if (own->mode == 3) scores[3 * i] = 0.0 / 0.0;
    if (own->mode == 4) scores[3 * i] = 1e300;
  }
  return 0;
}

static int skip_scores(smt_feature_v1 *feature, const smt_edges_v1 *edges, double *scores, void *states,
                       smt_error_v1 *error) {
  (void)feature, (void)edges, (void)scores, (void)states, (void)error;
  return 0;
}

static int finish(smt_feature_v1 *feature, int64_t count, const void *const *states, double *scores,
                  smt_error_v1 *error) {
  pairs *own = feature->self;
  count_lock();
  if (own->mode == 6) return fault(error, "cannot finish");
  for (int64_t i = 0; i < count; ++i) {
    const state *ends = states[i];
    scores[3 * i] = value(own, -1, ends->first);
    if (ends->first >= 0) scores[3 * i] += value(own, ends->last, -1);
    scores[3 * i + 1] = 0;
    scores[3 * i + 2] = own->mode == 7 ? 1.0 / 0.0 : own->told;
  }
  return 0;
}

static int estimate(smt_feature_v1 *feature, const smt_edges_v1 *edges, double *scores, smt_error_v1 *error) {
  pairs *own = feature->self;
  count_lock();
  if (edges->tails || edges->tail_offsets) return fault(error, "an estimate with tails");
  if (own->mode == 8) return fault(error, "cannot estimate");
  for (int64_t i = 0; i < edges->count; ++i) {
    state unused;
    scores[3 * i + 1] = 0;
    scores[3 * i] = score(own, edges, i, &unused, &scores[3 * i + 1]);
    scores[3 * i + 2] = 0;
  }
  return 0;
}

static smt_feature_v1 *clone(const smt_feature_v1 *feature, smt_error_v1 *error) {
  const pairs *own = feature->self;
  pairs *made;
  count_lock();
  if (own->mode == 9) {
    fault(error, "no clones");
    return NULL;
  }
  made = malloc(sizeof *made);
  if (!made) return NULL;
  *made = *own;
  made->table.self = made;
  if (own->mode == 10) made->table.components = 2;
  __atomic_add_fetch(&live, 1, __ATOMIC_SEQ_CST);
  return &made->table;
}

static void release(smt_feature_v1 *feature) {
  count_lock();
  __atomic_sub_fetch(&live, 1, __ATOMIC_SEQ_CST);
  free(feature->self);
}

/* Prototypes stay for good. */
const smt_feature_v1 *prototype(int32_t mode);
const smt_feature_v1 *prototype(int32_t mode) {
  static const char *const names[] = {"pairs", "words", "told"};
  pairs *made = calloc(1, sizeof *made);
  smt_feature_v1 table = {
      .version = SMT_FEATURE_V1, .size = sizeof(smt_feature_v1), .self = made, .components = 3,
      .component_names = names, .state_size = sizeof(state), .clone = clone, .release = release, .start = start,
      .combine_batch = combine_batch, .finish = finish, .estimate = estimate};
  made->mode = mode;
  if (mode == 20) table.version = 2;
  if (mode == 21) table.size -= 8;
  if (mode == 22) table.components = 0;
  if (mode == 23) table.state_size = 12;
  if (mode == 24) table.start = NULL;
  if (mode == 25) table.component_names = NULL;
  if (mode == 26) table.combine_batch = skip_scores;
  made->table = table;
  return &made->table;
}

/* No state, one component: how many words an edge has. */
static int count_words(smt_feature_v1 *feature, const smt_edges_v1 *edges, double *scores, void *states,
                       smt_error_v1 *error) {
  (void)feature;
  if (states) return fault(error, "states for a feature without states");
  for (int64_t i = 0; i < edges->count; ++i) {
    scores[i] = 0;
    for (int64_t k = edges->target_offsets[i]; k < edges->target_offsets[i + 1]; ++k) {
      scores[i] += edges->target[k] >= 0;
    }
  }
  return 0;
}
const smt_feature_v1 *stateless(void);
const smt_feature_v1 *stateless(void) {
  pairs *made = calloc(1, sizeof *made);
  smt_feature_v1 table = {.version = SMT_FEATURE_V1, .size = sizeof(smt_feature_v1), .self = made, .components = 1,
                          .clone = clone, .release = release, .start = start, .combine_batch = count_words};
  made->table = table;
  return &made->table;
}
"""

NAME = b"smt_feature_v1"


def capsule(table: Any, name: bytes = NAME, destructor: Any = None) -> Any:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(table, name, destructor)


def compiled(source: Path, target: Path) -> Path:
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-D_GNU_SOURCE", "-shared", "-fPIC", "-I", get_include()]
    subprocess.run(["cc", *flags, source, "-o", target, "-ldl"], check=True)
    return target


class Library:
    """The compiled source; `feature(mode)` is an object as an Offer makes one."""

    def __init__(self, path: Path) -> None:
        self.library = ctypes.CDLL(str(path))
        for name in ("prototype", "stateless"):
            getattr(self.library, name).restype = ctypes.c_void_p

    def feature(self, mode: int = 0, name: bytes = NAME) -> Any:
        return SimpleNamespace(smt_feature_v1=capsule(self.library.prototype(mode), name))

    def stateless(self) -> Any:
        return SimpleNamespace(smt_feature_v1=capsule(self.library.stateless()))

    def live(self) -> int:
        return int(self.library.live_clones())


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("table")
    (folder / "pairs.c").write_text(SOURCE)
    return Library(compiled(folder / "pairs.c", folder / "pairs.so"))


def sentence(*tokens: str, **annotations: str) -> Any:
    return SimpleNamespace(id="s1", tokens=tokens or ("ja", "wohl"), annotations=annotations)


TOLD = 2 + 20 + 3  # of sentence()


def sum_of(text: str) -> int:
    total = 7
    for byte in text.encode():
        total = (total * 31 + byte) % 2**32
    return total


def value(left: str, right: str) -> float:
    return (sum_of(left) * 31 + sum_of(right)) % 2**32 % 1000 / 100 - 5


def pair_score(words: Words, spelt: Sequence[str] = WORDS) -> float:
    ends = ["<s>", *(spelt[word] for word in words), "</s>"]
    return sum(value(left, right) for left, right in itertools.pairwise(ends))


def expected_of(made: Made, told: float = TOLD, spelt: Sequence[str] = WORDS) -> list[tuple[float, Words]]:
    a, b, c = WEIGHTS
    return [
        (score + a * pair_score(words, spelt) + b * len(words) + c * told, words) for score, words in made.derivations()
    ]


def forest_for(rng: random.Random) -> Made:
    return glue_forest(rng, rng.randint(1, 4)) if rng.random() < 0.5 else random_forest(rng)


@given(seed=SEEDS, early=st.booleans())
def test_a_table_scores_strings(library: Library, seed: int, early: bool) -> None:
    made = forest_for(random.Random(seed))
    scorer = native_scorer(library.feature(), Vocabulary(WORDS), sentence())
    search, forest = searcher(scorer, WEIGHTS), made.native()
    for options in ({"exact": True}, {"pop_limit": -1}):
        same(
            refined_derivations(search.search(forest, SearchOptions(early_begin=early, **options)), made),
            expected_of(made),
        )
    pruned = search.search(forest, SearchOptions(pop_limit=2, early_begin=early))
    best = max((score for score, _ in expected_of(made)), default=-math.inf)
    assert bool(len(pruned.best)) == (best > -math.inf)
    assert all(score <= best + 1e-5 for score, _ in refined_derivations(pruned, made))


@given(seed=SEEDS)
def test_a_table_beside_other_features(library: Library, seed: int) -> None:
    rng = random.Random(seed)
    made = random_forest(rng, 150)
    model, vocabulary = language_model(rng, 3), Vocabulary(WORDS)
    parts = [
        lm_scorer(model, WORDS),
        native_scorer(library.stateless(), vocabulary, sentence()),
        native_scorer(library.feature(), vocabulary, sentence()),
        lm_scorer(pair_model({(0, 1): -1.0}, -0.5), WORDS),
    ]
    search = searcher(Scorers(parts), [1.5, 0.125, *WEIGHTS, 0.0])
    expected = [
        (score + 1.5 * lm_score(model, words) + 0.125 * len(words), words) for score, words in expected_of(made)
    ]
    for options in ({"exact": True}, {"pop_limit": -1}):
        same(refined_derivations(search.search(made.native(), SearchOptions(**options)), made), expected)


class Pairs(SimpleStateful):
    """The values of neighbouring words in Python."""

    def combine_one(self, target: Sequence[str | int], tails: Sequence[Any]) -> tuple[float, Any]:
        parts = [tails[symbol] if isinstance(symbol, int) else (symbol, symbol) for symbol in target]
        parts = [part for part in parts if part]
        score = sum(value(left[1], right[0]) for left, right in itertools.pairwise(parts))
        return score, (parts[0][0], parts[-1][1]) if parts else ()

    def finish_one(self, state: Any) -> float:
        ends = [("<s>", "<s>"), *([state] if state else []), ("</s>", "</s>")]
        return sum(value(left[1], right[0]) for left, right in itertools.pairwise(ends))


def test_states_are_compared_as_bytes(library: Library) -> None:
    made = glue_forest(random.Random(5))
    vocabulary = Vocabulary(WORDS)
    table = native_scorer(library.feature(), vocabulary, sentence())
    python = contract_scorer(Pairs().start(sentence()), vocabulary)
    ours = searcher(table, [1.0, 0.0, 0.0]).search(made.native(), SearchOptions(exact=True, early_begin=False))
    theirs = searcher(python).search(made.native(), SearchOptions(exact=True, early_begin=False))
    assert ours.node_of.tolist() == theirs.node_of.tolist()
    assert ours.edge_of.tolist() == theirs.edge_of.tolist()
    assert np.allclose(ours.scores, theirs.scores, atol=1e-5)


def test_one_sentence_after_another(library: Library) -> None:
    vocabulary = Vocabulary()
    scorer = native_scorer(library.feature(), vocabulary, sentence())
    serial = native_words(vocabulary).serial
    search = searcher(scorer, WEIGHTS)
    made = glue_forest(random.Random(6), 4)
    # Words may come after the start, and with later sentences.
    spelt = ["a", "b\0c", "é", "d"]
    for first in range(len(spelt)):
        vocabulary.id(spelt[first])
        start_native(scorer, vocabulary, sentence("x" * first, bonus=str(first)))
        vocabulary.ids(spelt[: first + 2])
        assert native_words(vocabulary).serial == serial
        assert len(native_words(vocabulary)) == len(vocabulary)
        known = [word.split("\0")[0] for word in [*spelt[: len(vocabulary)], *"????"][:4]]
        told = 2 + 10 + 0.5 * first + first
        same(
            refined_derivations(search.search(made.native(), SearchOptions(exact=True)), made),
            expected_of(made, told, known),
        )
    assert native_words(Vocabulary()).serial != serial


def test_many_words_keep_their_places() -> None:
    vocabulary = Vocabulary()
    words = native_words(vocabulary)
    for size in (1, 255, 256, 257, 5000):
        vocabulary.ids(str(i) for i in range(size))
        assert len(native_words(vocabulary)) == size
    words.add(4000, [str(i) for i in range(4000, 6000)])
    assert len(words) == 6000
    with pytest.raises(ValueError, match="one after the other"):
        words.add(6001, ["x"])
    with pytest.raises(TypeError, match="expected a str"):
        words.add(6000, [1])  # type: ignore[list-item]


def test_clones_work_in_threads_of_their_own(library: Library) -> None:
    vocabulary, feature = Vocabulary(WORDS), library.feature()
    cases = [forest_for(random.Random(seed)) for seed in range(40)]
    before = library.library.calls_with_lock()

    def run(share: int) -> list[Any]:
        scorer = native_scorer(feature, vocabulary, sentence())
        search = searcher(scorer, WEIGHTS)
        results = []
        for made in cases[share::4]:
            start_native(scorer, vocabulary, sentence())
            vocabulary.id(f"new {share}")
            results.append((refined_derivations(search.search(made.native(), SearchOptions(exact=True)), made), made))
        return results

    with ThreadPoolExecutor(4) as pool:
        for results in pool.map(run, range(4)):
            for derivations, made in results:
                same(derivations, expected_of(made))
    gc.collect()
    assert library.library.calls_with_lock() == before == 0
    assert library.live() == 0


def test_the_capsule_lives_as_long_as_its_clones(library: Library) -> None:
    gone: list[int] = []
    live_then: list[int] = []
    destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

    def end(capsule: Any) -> None:
        gone.append(1)
        live_then.append(library.live())

    kept = destructor(end)
    made = capsule(library.library.prototype(0), NAME, ctypes.cast(kept, ctypes.c_void_p))
    scorer = native_scorer(made, Vocabulary(WORDS), sentence())
    search = searcher(Scorers([scorer]), WEIGHTS)
    del made, scorer
    gc.collect()
    assert (gone, library.live()) == ([], 1)
    forest = glue_forest(random.Random(1), 2).native()
    assert len(search.search(forest).best)
    del search
    gc.collect()
    assert (gone, library.live(), live_then) == ([1], 0, [0])


def test_a_vocabulary_is_let_go() -> None:
    vocabulary = Vocabulary(WORDS)
    native_words(vocabulary)
    gone = weakref.ref(vocabulary)
    del vocabulary
    gc.collect()
    assert gone() is None


def test_names(library: Library) -> None:
    vocabulary = Vocabulary(WORDS)
    assert native_scorer(library.feature(), vocabulary, sentence(), name="p").names == ["pairs", "words", "told"]
    assert native_scorer(library.feature(25), vocabulary, sentence(), name="p").names == ["p[0]", "p[1]", "p[2]"]
    alone = native_scorer(library.stateless(), vocabulary, sentence(), name="p")
    assert alone.names == ["p"]
    assert searcher_of([Stateful(alone, tuple(alone.names), (1.0,))])


@pytest.mark.parametrize(
    ("mode", "match"),
    [
        (1, "mine: start failed: no \ufffd thanks"),
        (2, "mine: combine_batch failed: cannot combine"),
        (3, "mine: expected finite scores from combine_batch, found -?nan"),
        (4, "mine: expected finite scores from combine_batch, found 1000"),
        (5, "mine: combine_batch failed, without saying why"),
        (6, "mine: finish failed: cannot finish"),
        (7, "mine: expected finite scores from finish, found inf"),
        (8, "mine: estimate failed: cannot estimate"),
        (26, "mine: expected finite scores from combine_batch, found nan"),
    ],
)
def test_what_fails_in_a_search_is_told(library: Library, mode: int, match: str) -> None:
    scorer = native_scorer(library.feature(mode), Vocabulary(WORDS), sentence(), name="mine")
    search, forest = searcher(scorer, WEIGHTS), glue_forest(random.Random(2)).native()
    for _ in range(2):
        with pytest.raises(NativeFault, match=match if _ == 0 or mode != 1 else "mine: no sentence is begun"):
            search.search(forest)


@pytest.mark.parametrize(
    ("mode", "match"),
    [
        (10, "other columns or states"),
        (20, "mine: expected version 1 of smt_feature_v1, found 2"),
        (21, r"mine: expected a table of \d+ bytes, found \d+"),
        (22, "mine: expected 1 to 65536 components, found 0"),
        (23, "mine: expected a state size that is a multiple of 8 .* found 12"),
        (24, "mine: clone, release, start and combine_batch must not be NULL"),
    ],
)
def test_what_the_host_cannot_use_is_refused(library: Library, mode: int, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        native_scorer(library.feature(mode), Vocabulary(), sentence(), name="mine")
    assert library.live() == 0


def test_faults_of_the_caller(library: Library) -> None:
    vocabulary = Vocabulary(WORDS)
    with pytest.raises(NativeFault, match="SimpleNamespace: clone failed: no clones"):
        native_scorer(library.feature(9), vocabulary, sentence())
    with pytest.raises(TypeError, match="expected a capsule named smt_feature_v1"):
        native_scorer(library.feature(name=b"smt_feature_v2"), vocabulary, sentence())
    with pytest.raises(TypeError, match="expected a capsule named smt_feature_v1"):
        native_scorer(object(), vocabulary, sentence())
    with pytest.raises(ValueError, match="holds a NUL"):
        native_scorer(library.feature(), vocabulary, sentence("a\0b"))
    with pytest.raises(UnicodeEncodeError):
        native_scorer(library.feature(), Vocabulary(["\ud800"]), sentence())
    gc.collect()
    assert library.live() == 0


class Repetition(SimpleStateful):
    """The template's feature in Python."""

    def combine_one(self, target: Sequence[str | int], tails: Sequence[Any]) -> tuple[float, Any]:
        parts = [tails[symbol] if isinstance(symbol, int) else (symbol, symbol) for symbol in target]
        parts = [part for part in parts if part]
        score = sum(repeated(left[1], right[0]) for left, right in itertools.pairwise(parts))
        return score, (parts[0][0], parts[-1][1]) if parts else ()

    def estimate_one(self, target: Sequence[str | int]) -> float:
        return sum(repeated(left, right) for left, right in itertools.pairwise(target))


def repeated(left: Any, right: Any) -> float:
    return float(isinstance(left, str) and left == right and (len(left.encode()) > 1 or left.isalnum()))


@given(seed=SEEDS)
def test_the_template_in_a_search(template: Any, seed: int) -> None:
    made = forest_for(random.Random(seed))
    words = ["a", "a.", ".", "é"]
    vocabulary = Vocabulary(words)
    native = native_scorer(capsule(template), vocabulary, Sentence("0", ("ja",)), name="repetition")
    python = contract_scorer(Repetition().start(Sentence("0", ("ja",))), vocabulary)
    for options in ({"exact": True}, {"pop_limit": 3}):
        ours, theirs = (
            searcher(scorer, [-0.75]).search(made.native(), SearchOptions(**options)) for scorer in (native, python)
        )
        for name in ("node_of", "edge_of", "tails", "values", "scores"):
            assert getattr(ours, name).tolist() == getattr(theirs, name).tolist()
    exact = searcher(native, [-0.75]).search(made.native(), SearchOptions(exact=True))
    expected = [
        (score - 0.75 * sum(repeated(words[a], words[b]) for a, b in itertools.pairwise(string)), string)
        for score, string in made.derivations()
    ]
    same(refined_derivations(exact, made), expected)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The prototype of the plugin template."""
    library = ctypes.CDLL(str(compiled(TEMPLATE, tmp_path_factory.mktemp("template") / "repetition.so")))
    library.example_repetition.restype = ctypes.c_void_p
    return library.example_repetition()
