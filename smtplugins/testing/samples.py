"""What the kit checks with: sentences, n-best lists, rules, strings, weights, problems. Small, fixed, unfriendly."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, Columns
    from smtplugins.contracts.contracts import Events, Lists, Metric, Rows, Sentence, Task
    from smtplugins.core.grammar.rules import Origins

FILE = "sample"
"""What the kit's data says it was read from."""

# No-break space, line separator, combining accent, a script without blanks, a character outside the first plane.
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
    """A source text for each of the lists."""
    return [source for source, _ in _TEXTS]


def sentences() -> list[Sentence]:
    """Sentences to translate: ids that are no numbers in order, one sentence twice, an empty one."""
    from smtplugins.contracts.contracts import Sentence

    ids = ["7", "b", "0", "x-1", "1"]
    made = [Sentence(key, tuple(text.split(" "))) for key, text in zip(ids, sources(), strict=True)]
    return [*made, Sentence("again", made[0].tokens), Sentence("empty", ())]


def lists(annotations: Iterable[str] = (), *, extras: bool = True) -> list[Candidates]:
    """N-best lists of 1 to 5 hypotheses: features of each shape, an empty text, equal texts, odd characters."""
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
        # In one list of five, each hypothesis has sparse features of its own.
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
    """So many phrases, if there are words enough; two of them in the order of the source, three from its end."""
    pieces = min(pieces, width, words)
    ends = [[k * size // pieces for k in range(pieces + 1)] for size in (width, words)]
    sources, targets = ([f"{a}-{b - 1}" for a, b in itertools.pairwise(some)] for some in ends)
    if pieces == 3:
        sources.reverse()
    return " ".join(f"{source}={target}" for source, target in zip(sources, targets, strict=True))


def rules(seed: int = 1, count: int = 40) -> list[list[str | int]]:
    """Target sides: words with children between them, some of children alone, an empty one, one twice."""
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
    """Where rules with these target sides come from: a table, glue, or made for a word; the same for the same rule."""
    import numpy as np

    from smtformats.grammar.rules import NonTerminal, Rule
    from smtformats.grammar.shared.gather import grammar_columns
    from smtplugins.core.grammar.rules import GLUE, MINTED, Origins

    made, numbers = [], []
    for symbols in targets:
        children = [NonTerminal("X", 1 + one) for one in sorted(one for one in symbols if isinstance(one, int))]
        words = [one for one in symbols if isinstance(one, str)]
        source = [*children, *("q" * (1 + len(words) % 3))]
        target = [one if isinstance(one, str) else NonTerminal("X", 1 + one) for one in symbols]
        made.append(Rule("X", tuple(source), tuple(target)))
        numbers.append(1 if children and not words else 2 if len(symbols) == 1 else 0)
    columns = grammar_columns(made)
    return Origins(("table", GLUE, MINTED), (0, 1, 2), np.array(numbers, dtype=np.int32), lambda: columns)


def strings(seed: int = 1, count: int = 24) -> list[list[str]]:
    """Word strings over few words; pairs of them begin and end alike, so that states of n-gram features meet."""
    source = random.Random(seed)

    def words(low: int, high: int) -> list[str]:
        return [source.choice("abc") for _ in range(source.randint(low, high))]

    made: list[list[str]] = [["a"], ["a", "b"], ["b", "a"], ["a", "b", "a"], ["a", "b", "b", "a"]]
    while len(made) < count:
        left, right = words(5, 5), words(5, 5)
        made += [words(1, 4), [*left, *words(0, 3), *right], [*left, *words(4, 6), *right]]
    return made[:count]


def weights() -> dict[str, dict[str, float]]:
    """Sets of weights; ``plain`` is one that any format for weights can hold."""
    return {
        "plain": {"LM0": 0.5, "WordPenalty0": -1.0, "Distortion0": 0.3},
        "vectors": {"TM0[0]": 0.2, "TM0[1]": 0.25, "TM0[2]": -0.125, "LM0": 1 / 3},
        "sparse": {"pair:a~b": 0.0625, "pair:é~ü": -2.0},
        "numbers": {"a": 1e-300, "b": -1.5e17, "c": 0.1 + 0.2, "d": 0.0},
    }


def records(kind: str) -> dict[str, list[Any]]:
    """Records of a kind of format by what is special about them; ``plain`` are such as any format can hold."""
    if kind == "nbest":
        every = lists(extras=False)
        return {
            "plain": [every[3], every[4]],
            "odd characters": [every[2]],
            "an empty text": [every[0]],
            "sparse features": [every[1]],
            "alignments": [one for one in lists() if all(one.texts)],
        }
    if kind == "weights":
        return {name: [one] for name, one in weights().items()}
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
"""Files of each kind as they are met, to see what a format takes for its own."""


class WordOverlap:
    """A metric for the kit's own problems: F1 of the distinct words of hypothesis and the reference nearest to it."""

    name = "word-overlap"
    higher_is_better = True

    def stats(
        self,
        hypotheses: Sequence[str],
        references: Sequence[Sequence[str]],
        sources: Sequence[str] | None = None,
    ) -> NDArray[Any]:
        """Words in both, in the hypothesis, in the reference."""
        import numpy as np

        rows = []
        for texts in zip(hypotheses, *references, strict=True):
            hyp, *refs = [set(text.split()) for text in texts]
            ref = max(refs, key=lambda one: len(hyp & one) / max(len(hyp) + len(one), 1))
            rows.append([len(hyp & ref), len(hyp), len(ref)])
        return np.array(rows, dtype=np.float64)

    def score(self, stats: NDArray[Any]) -> NDArray[Any]:
        """F1 in per cent."""
        import numpy as np

        both = 2 * stats[..., 0]
        scores: NDArray[Any] = 100 * both / np.maximum(stats[..., 1] + stats[..., 2], 1)
        return scores

    def sentence(self, stats: NDArray[Any]) -> NDArray[Any]:
        """The same of each row."""
        return self.score(stats)

    def signature(self) -> str:
        """No options."""
        return "word-overlap"


def list_problem(metric: Metric | None = None, count: int = 12) -> Lists:
    """Lists in which two of three features tell good hypotheses from bad ones."""
    from smtformats import Candidates
    from smtplugins.contracts.contracts import Lists

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
    return Lists(made, stats, chosen)


def row_problem(count: int = 60) -> Rows:
    """Rows of two features whose label, 1 or -1, is the sign of their product, so that no line parts them."""
    import numpy as np

    from smtformats import Columns
    from smtplugins.contracts.contracts import Rows

    table = np.random.default_rng(5).normal(size=(count, 2))
    labels = np.where(table[:, 0] * table[:, 1] > 0, 1.0, -1.0)
    return Rows(Columns.dense(("x", "y"), table), labels)


def event_problem(count: int = 48) -> Events:
    """Events of two to five alternatives in two pieces: dense features that tell the right one, rare ones by name."""
    import numpy as np

    from smtformats import Columns
    from smtplugins.contracts.contracts import EventRows, Events

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
    return Events(pieces)


@dataclass(frozen=True)
class Tagged:
    """A state of :class:`Tagging`: the words, what they should be, the tags so far."""

    words: tuple[str, ...]
    wanted: tuple[str, ...]
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tagging:
    """A search task: words are tagged from left to right, and how many tags were right is told at the end only."""

    tags: tuple[str, ...] = ("D", "N", "V")

    def begin(self, example: tuple[tuple[str, ...], tuple[str, ...]]) -> Tagged:
        """No word has a tag."""
        return Tagged(*example)

    def actions(self, state: Tagged) -> Sequence[str]:
        """The tags that the next word may get."""
        return self.tags if len(state.tags) < len(state.words) else ()

    def features(self, state: Tagged, actions: Sequence[str]) -> Columns:
        """The tag with the word, and with the tag before it."""
        from smtformats import Columns

        word = state.words[len(state.tags)]
        before = state.tags[-1] if state.tags else "^"
        return Columns.from_mappings([{f"word:{word}|{tag}": 1.0, f"before:{before}|{tag}": 1.0} for tag in actions])

    def after(self, state: Tagged, action: str) -> Tagged:
        """The next word has this tag."""
        return Tagged(state.words, state.wanted, (*state.tags, action))

    def reward(self, state: Tagged) -> float:
        """The part of the tags that are right, when all are there."""
        if len(state.tags) < len(state.words):
            return 0.0
        return sum(a == b for a, b in zip(state.tags, state.wanted, strict=True)) / len(state.words)


def task_problem(count: int = 16) -> Task:
    """Sentences to be tagged in which some words are verbs, or nouns if an article is before them."""
    from smtplugins.contracts.contracts import Task

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
    return Task(Tagging(), made)
