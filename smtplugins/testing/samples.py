"""The kit's data: sentences, n-best lists, rules, strings, weights and problems; small, fixed, with odd cases."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, Columns
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.learners import EventProblem, ListProblem, RowProblem
    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.tasks import TaskProblem
    from smtplugins.core.grammar.rules import Origins

FILE = "sample"
"""The file name in the kit's data."""

# No-break space, line separator, combining accent, a script without blanks, a character outside the BMP.
_ODD = "prix\u00a0: 3\u202f% un\u2028deux cafe\u0301 猫が好き 🙂"
_TEXTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "wo ist mein hut ?",
        ("where is my hat ?", "where 's my hat ?", "my hat is where", "", "where is my hat ?"),
    ),
    ("das haus , das er kaufte", ("the house that he bought", "the house , the he bought", "house bought")),
    ("prix\u00a0: 3\u202f%", (_ODD, "price : 3 %")),
    ("ja", ("yes",)),
    (
        "er sagt : » nein , nein «",
        ('he says : " no , no "', "he says no no", "no no no no no no no no", "he | says = no : x[0] -1 1e5", "no"),
    ),
)


def sources() -> list[str]:
    """Return the source text of each list."""
    return [source for source, _ in _TEXTS]


def sentences() -> list[Sentence]:
    """Return sentences to translate: with arbitrary ids, one sentence twice, one empty."""
    from smtplugins.contracts.data import Sentence

    ids = ["7", "b", "0", "x-1", "1"]
    made = [Sentence(key, tuple(text.split(" "))) for key, text in zip(ids, sources(), strict=True)]
    return [*made, Sentence("again", made[0].tokens), Sentence("empty", ())]


def lists(annotations: Iterable[str] = (), *, extras: bool = True) -> list[Candidates]:
    """Return n-best lists with all shapes of features, an empty text, equal texts and odd characters."""
    from smtformats import Candidates

    made = []
    first = 0
    for number, (source, texts) in enumerate(_TEXTS):
        layouts, values = _features(number, texts)
        made.append(
            Candidates(
                id=str(2 * number),
                texts=list(texts),
                layouts=layouts,
                values=values,
                totals=[-1.5 * rank - number / 3 for rank in range(len(texts))],
                extras=_extras(source, texts) if extras else {},
                file=FILE,
                line=first + 1,
                first=first,
                source=source,
                annotations={name: f"{name} of {source}" for name in annotations},
            )
        )
        first += len(texts)
    return made


def _features(number: int, texts: Sequence[str]) -> tuple[list[tuple[str, ...]], list[list[float]]]:
    dense = ("LM0", "TM0[0]", "TM0[1]", "WordPenalty0")
    layouts: list[tuple[str, ...]] = []
    values = []
    for rank, text in enumerate(texts):
        words = text.split()
        row = [-7.25 - rank / 7, -1e-5 * (number + 1), 0.0, -float(len(words))]
        # In one list, each hypothesis has its own sparse features.
        pairs = sorted({f"pair:{word}~{number}" for word in words if word.isalpha()}) if number == 1 else []
        layouts.append((*dense, *pairs))
        values.append([*row, *(1.0 + i for i in range(len(pairs)))])
    return layouts, values


def _extras(source: str, texts: Sequence[str]) -> dict[str, list[str]]:
    from smtformats.tokens import blanks

    width = len(blanks(source))
    alignment, segmentation = [], []
    for rank, text in enumerate(texts):
        words = len(blanks(text))
        alignment.append(" ".join(f"{i}-{i}" for i in range(min(width, words))))
        segmentation.append(_segments(width, words, 1 + rank % 3) if words else "")
    return {"alignment": alignment, "segmentation": segmentation}


def _segments(width: int, words: int, pieces: int) -> str:
    """Return a segmentation of at most ``pieces`` phrases: monotone, or reversed if there are three."""
    pieces = min(pieces, width, words)
    ends = [[k * size // pieces for k in range(pieces + 1)] for size in (width, words)]
    sources, targets = ([f"{a}-{b - 1}" for a, b in itertools.pairwise(some)] for some in ends)
    if pieces == 3:
        sources.reverse()
    return " ".join(f"{source}={target}" for source, target in zip(sources, targets, strict=True))


def rules(seed: int = 1, count: int = 40) -> list[list[str | int]]:
    """Return target sides: words and children, some with children only, one empty, one twice."""
    source = random.Random(seed)
    made: list[list[str | int]] = [[], [0], [1, 0], ["a", 0, "b", 1, "c"], ["a"], ["a"]]
    while len(made) < count:
        symbols: list[str | int] = [source.choice("abcdé") for _ in range(source.randrange(7))]
        for child in range(source.randrange(4)):
            symbols.insert(source.randint(0, len(symbols)), child)
        children = sorted(symbol for symbol in symbols if isinstance(symbol, int))
        # Children are numbered in target order.
        made.append([children.pop(0) if isinstance(symbol, int) else symbol for symbol in symbols])
    return made


def origins(targets: Sequence[Sequence[str | int]]) -> Origins:
    """Return origins of rules with these target sides (table, glue, or minted for a word), equal for equal rules."""
    import numpy as np

    from smtformats.grammar.rules import NonTerminal, Rule
    from smtformats.grammar.shared.gather import grammar_columns
    from smtplugins.core.grammar.rules import GLUE, MINTED, Origins

    made, numbers = [], []
    for symbols in targets:
        children = [
            NonTerminal("X", 1 + symbol) for symbol in sorted(symbol for symbol in symbols if isinstance(symbol, int))
        ]
        words = [symbol for symbol in symbols if isinstance(symbol, str)]
        source = [*children, *("q" * (1 + len(words) % 3))]
        target = [symbol if isinstance(symbol, str) else NonTerminal("X", 1 + symbol) for symbol in symbols]
        made.append(Rule("X", tuple(source), tuple(target)))
        numbers.append(1 if children and not words else 2 if len(symbols) == 1 else 0)
    columns = grammar_columns(made)
    return Origins(("table", GLUE, MINTED), (0, 1, 2), np.array(numbers, dtype=np.int32), lambda: columns)


def strings(seed: int = 1, count: int = 24) -> list[list[str]]:
    """Return strings over few words; pairs share beginnings and ends, so that states of n-gram features are equal."""
    source = random.Random(seed)

    def words(low: int, high: int) -> list[str]:
        return [source.choice("abc") for _ in range(source.randint(low, high))]

    made: list[list[str]] = [["a"], ["a", "b"], ["b", "a"], ["a", "b", "a"], ["a", "b", "b", "a"]]
    while len(made) < count:
        left, right = words(5, 5), words(5, 5)
        made += [words(1, 4), [*left, *words(0, 3), *right], [*left, *words(4, 6), *right]]
    return made[:count]


def weights() -> dict[str, dict[str, float]]:
    """Return named sets of weights; any format of weights can hold ``plain``."""
    return {
        "plain": {"LM0": 0.5, "WordPenalty0": -1.0, "Distortion0": 0.3},
        "vectors": {"TM0[0]": 0.2, "TM0[1]": 0.25, "TM0[2]": -0.125, "LM0": 1 / 3},
        "sparse": {"pair:a~b": 0.0625, "pair:é~ü": -2.0},
        "numbers": {"a": 1e-300, "b": -1.5e17, "c": 0.1 + 0.2, "d": 0.0},
    }


def records(kind: str) -> dict[str, list[Any]]:
    """Return named samples of records of a kind; any format can hold ``plain``."""
    if kind == "nbest":
        every = lists(extras=False)
        return {
            "plain": [every[3], every[4]],
            "odd characters": [every[2]],
            "an empty text": [every[0]],
            "sparse features": [every[1]],
            "alignments": [nbest for nbest in lists() if all(nbest.texts)],
        }
    if kind == "weights":
        return {name: [values] for name, values in weights().items()}
    if kind == "corpus":
        plain = [*sources()[:2], *lists()[0].texts[:3]]
        return {"plain": plain, "odd characters": [_ODD], "an empty text": ["a", "", "b", ""]}
    if kind == "alignment":
        from smtformats.alignment.links import Alignment

        pairs = [Alignment(points) for points in (((0, 0), (1, 2), (2, 1)), ((0, 0),), ((3, 0), (0, 12)))]
        return {"plain": pairs, "no links": [pairs[0], Alignment(()), pairs[1]]}
    return {}


FILES: Mapping[str, tuple[bytes, ...]] = {
    "nbest": (
        b"0 ||| das ist gut  ||| LM0= -3.5 TM0= -1 -2 ||| -6.5\n0 ||| gut ||| LM0= -2 TM0= -1 0 ||| -7\n",
        b"0 ||| das ist gut ||| LM=-3.5 TM=-1 ||| -6.5\n1 ||| ja ||| LM=-1 TM=0 ||| -2\n",
    ),
    "weights": (b"LM0 0.5\nWordPenalty0 -1\n", b"[weight]\nLM0= 0.5\nTM0= 0.2 0.3\n"),
    "alignment": (b"0-0 1-1 2-3\n0-0\n", b"1\n1 yes # 1\n2 ja doch # 1 0\n"),
    "tuning": (b"FEATURES_TXT_BEGIN_0 0 1 1 LM0_0 \n-1 \nFEATURES_TXT_END_0\n",),
    "corpus": ("wo ist mein Hut ?\nDas Haus , das er kaufte , ist größer .\nja\n".encode(),),
}
"""Typical files of each kind, which formats of other kinds must not recognise."""


class WordOverlap:
    """A metric for the kit's problems: F1 of the distinct words of the hypothesis and its closest reference."""

    name = "word-overlap"
    higher_is_better = True

    def stats(
        self,
        hypotheses: Sequence[str],
        references: Sequence[Sequence[str]],
        sources: Sequence[str] | None = None,
    ) -> NDArray[Any]:
        """Count the words in common, those of the hypothesis and those of the reference."""
        import numpy as np

        rows = []
        for texts in zip(hypotheses, *references, strict=True):
            hyp, *refs = [set(text.split()) for text in texts]
            ref = max(refs, key=lambda words: len(hyp & words) / max(len(hyp) + len(words), 1))
            rows.append([len(hyp & ref), len(hyp), len(ref)])
        return np.array(rows, dtype=np.float64)

    def score(self, stats: NDArray[Any]) -> NDArray[Any]:
        """Return F1 in per cent."""
        import numpy as np

        both = 2 * stats[..., 0]
        scores: NDArray[Any] = 100 * both / np.maximum(stats[..., 1] + stats[..., 2], 1)
        return scores

    def sentence(self, stats: NDArray[Any]) -> NDArray[Any]:
        """Return F1 of each row."""
        return self.score(stats)

    def signature(self) -> str:
        """Return the signature; there are no options."""
        return "word-overlap"


def list_problem(metric: Metric | None = None, count: int = 12) -> ListProblem:
    """Return lists in which two of three features distinguish good hypotheses from bad ones."""
    from smtformats import Candidates
    from smtplugins.contracts.learners import ListProblem

    source = random.Random(3)
    chosen = WordOverlap() if metric is None else metric
    made, stats = [], []
    layout = ("good", "helpful", "noise")
    for number in range(count):
        reference = [source.choice("abcdefgh") for _ in range(6)]
        texts, values = [], []
        for _ in range(5):
            words = [word if source.random() < 0.6 else source.choice("xyz") for word in reference]
            right = float(sum(a == b for a, b in zip(words, reference, strict=True)))
            texts.append(" ".join(words))
            values.append([right + source.gauss(0, 1), right / 2 + source.gauss(0, 2), source.gauss(0, 3)])
        made.append(Candidates(id=str(number), texts=texts, layouts=[layout] * len(texts), values=values, file=FILE))
        stats.append(chosen.stats(texts, [[" ".join(reference)] * len(texts)]))
    return ListProblem(made, stats, chosen)


def row_problem(count: int = 60) -> RowProblem:
    """Return rows of two features labelled by the sign of their product: not linearly separable."""
    import numpy as np

    from smtformats import Columns
    from smtplugins.contracts.learners import RowProblem

    table = np.random.default_rng(5).normal(size=(count, 2))
    labels = np.where(table[:, 0] * table[:, 1] > 0, 1.0, -1.0)
    return RowProblem(Columns.dense(("x", "y"), table), labels)


def event_problem(count: int = 48) -> EventProblem:
    """Return events of two to five alternatives in two pieces, with informative dense features and rare sparse ones."""
    import numpy as np

    from smtformats import Columns
    from smtplugins.contracts.learners import EventProblem, EventRows

    random = np.random.default_rng(7)
    pieces = []
    for piece in range(2):
        rows: list[dict[str, float]] = []
        ends, right = [0], []
        for _ in range(count // 2):
            size = int(random.integers(2, 6))
            made = [dict(zip(("x", "y", "z"), random.normal(size=3).tolist(), strict=True)) for _ in range(size)]
            chosen = max(range(size), key=lambda k: 2 * made[k]["x"] - made[k]["y"] + float(random.normal()))
            for k, row in enumerate(made):
                row[f"rare:{piece}:{int(random.integers(0, 9))}"] = 1.0 + (k == chosen)
            rows += made
            ends.append(len(rows))
            right.append(chosen)
        pieces.append(EventRows(Columns.from_mappings(rows), np.array(ends), np.array(right)))
    return EventProblem(pieces)


@dataclass(frozen=True)
class Tagged:
    """A state of :class:`Tagging`: the words, the right tags, the tags so far."""

    words: tuple[str, ...]
    wanted: tuple[str, ...]
    tags: tuple[str, ...] = ()


@functools.cache
def _tag_features(word: str, before: str, tags: tuple[str, ...]) -> Columns:
    from smtformats import Columns

    return Columns.from_mappings([{f"word:{word}|{tag}": 1.0, f"before:{before}|{tag}": 1.0} for tag in tags])


@dataclass(frozen=True)
class Tagging:
    """A search task: tag words from left to right; the reward, the tagging accuracy, comes at the end."""

    tags: tuple[str, ...] = ("D", "N", "V")

    def begin(self, example: tuple[tuple[str, ...], tuple[str, ...]]) -> Tagged:
        """Return the start state, without tags."""
        return Tagged(*example)

    def actions(self, state: Tagged) -> Sequence[str]:
        """Return the tags for the next word."""
        return self.tags if len(state.tags) < len(state.words) else ()

    def features(self, state: Tagged, actions: Sequence[str]) -> Columns:
        """Pair the tag with the word, and with the tag before it."""
        return _tag_features(state.words[len(state.tags)], state.tags[-1] if state.tags else "^", tuple(actions))

    def after(self, state: Tagged, action: str) -> Tagged:
        """Tag the next word."""
        return Tagged(state.words, state.wanted, (*state.tags, action))

    def reward(self, state: Tagged) -> float:
        """Return the fraction of right tags once all words are tagged."""
        if len(state.tags) < len(state.words):
            return 0.0
        return sum(a == b for a, b in zip(state.tags, state.wanted, strict=True)) / len(state.words)


def task_problem(count: int = 16) -> TaskProblem:
    """Return sentences to tag, in which some words are nouns after an article and verbs otherwise."""
    from smtplugins.contracts.tasks import TaskProblem

    source = random.Random(11)
    made = []
    for _ in range(count):
        words, tags = [], []
        for _ in range(source.randint(1, 3)):
            if source.random() < 0.6:
                words += [source.choice(("the", "a")), source.choice(("run", "walk", "dog"))]
                tags += ["D", "N"]
            else:
                words.append(source.choice(("run", "walk")))
                tags.append("V")
        made.append((tuple(words), tuple(tags)))
    return TaskProblem(Tagging(), made)
