"""The features ``bitree`` and ``bitree-aligned``: word transduction scores of n-best lists from any system.

Joins are not scored, as lists have no trees. Costs are those of equation 7.5.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from smtformats import Candidates
from smtformats.tokens import blanks
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.plugins.bitree.boosting.boosted_model import costs
from smtplugins.plugins.bitree.words.material import NULL
from smtplugins.plugins.bitree.words.word_model import MIXTURE, WordModel

UNSEEN = 10.0
_LINK = re.compile(r"([0-9]+)-([0-9]+)")


class _WordFeature:
    """The common part of both features: a word model, and the translation costs of a source sentence's words."""

    def __init__(
        self,
        *,
        model_path: Path,
        configuration: str = MIXTURE,
        trees_path: Path | None = None,
        unseen: float = UNSEEN,
    ) -> None:
        from smtplugins.plugins.bitree.transduce.transducer import RECORD, WORDS
        from smtplugins.plugins.bitree.trees.sentence_trees import SentenceTrees

        if not unseen >= 0:
            raise UsageError(f"unseen: expected a cost of 0 or more, found {unseen}")
        folder = Path(model_path)
        self._model = WordModel.load(folder / WORDS if (folder / RECORD).is_file() else folder)
        self._configuration = self._model.configuration(configuration)
        needed = self._model.needs_trees(self._configuration)
        self._trees = SentenceTrees(trees_path, needed=needed, kind=self._model.trees)
        self._unseen = unseen

    def _costs(self, source: str | None, candidates: Candidates) -> list[Mapping[str, float]]:
        """The cost of each translation, for each source word."""
        words = tuple(blanks(source or ""))
        tree = self._trees.of(Sentence(candidates.id, words)) if self._model.trees is not None else None
        confidences = self._model.confidences(words, tree, self._configuration)
        return [dict(zip(names, costs(confidence).tolist(), strict=True)) for names, confidence in confidences]


class BitreeWords(_WordFeature):
    """The negative cost of the cheapest word transduction into the words of a candidate, whatever their order.

    Each source word becomes the cheapest of the candidate's words or NULL; several may become the same word.
    ``model_path`` is a folder of ``smt bitree words`` or ``smt bitree train``, ``configuration`` one of its
    configurations, ``mixture`` or ``best``. If it needs source trees, ``trees_path`` is a file with a tree for each
    sentence, by sentence number. An unseen translation costs ``unseen``.
    """

    def score_candidates(self, source: str | None, candidates: Candidates) -> list[float]:
        """One value for each candidate."""
        known = self._costs(source, candidates)
        scores = []
        for text in candidates.texts:
            bag = {NULL, *blanks(text)}
            scores.append(-sum(min([self._unseen, *(table[name] for name in bag & table.keys())]) for table in known))
        return scores


class AlignedWords(_WordFeature):
    """The negative cost of a candidate's word links: each source word became the word it is linked to, or NULL.

    If a word has several links, the cheapest counts. Lists need alignments. Options are those of ``bitree``.
    """

    def score_candidates(self, source: str | None, candidates: Candidates) -> list[float]:
        """One value for each candidate."""
        known = self._costs(source, candidates)
        pairs = zip(candidates.texts, candidates.extras["alignment"], strict=True)
        return [-self._link_cost(known, tuple(blanks(text)), links, candidates.id) for text, links in pairs]

    def _link_cost(self, known: Sequence[Mapping[str, float]], target: Sequence[str], links: str, id: str) -> float:
        names: list[list[str]] = [[] for _ in known]
        for link in links.split():
            match = _LINK.fullmatch(link)
            place = (int(match[1]), int(match[2])) if match else (-1, -1)
            if match is None or place[0] >= len(known) or place[1] >= len(target):
                sizes = f"{len(known)} and {len(target)} words"
                raise SmtError(f"list {id}: expected links of {sizes}, found {link!r}")
            names[place[0]].append(target[place[1]])
        return sum(
            min(table.get(name, self._unseen) for name in linked or [NULL])
            for table, linked in zip(known, names, strict=True)
        )
