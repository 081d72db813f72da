"""Tell which source sides of rules can match a sentence of an input."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterable, Sequence

MARKS = (b"<s>", b"</s>")
_LONGEST = 10


class InputPhrases:
    """The sentences of an input, asked for source sides; each stands between ``<s>`` and ``</s>``.

    A source side without gaps matches where its words follow each other. One with gaps matches if its runs of words
    occur in one sentence in this order, with a word or more for each gap; neither labels nor lengths of spans count.
    Words are bytes, a gap is None.
    """

    def __init__(self, sentences: Iterable[Sequence[bytes]]) -> None:
        # As whole words are between blanks, a run of words is found by its text; no word has a newline.
        distinct = dict.fromkeys(b" ".join((b"", MARKS[0], *words, MARKS[1], b"")) for words in sentences)
        self._sentences = list(distinct)
        self._text = b"\n".join(self._sentences)
        self._phrases: dict[int, set[bytes]] = {}
        self._places: dict[bytes, array[int]] = {}
        for number, sentence in enumerate(self._sentences):
            for word in set(sentence.split(b" ")):
                self._places.setdefault(word, array("l")).append(number)

    def __len__(self) -> int:
        return len(self._sentences)

    def match(self, side: Sequence[bytes | None]) -> bool:
        """Whether a source side can match a sentence."""
        if None not in side:
            return self._has_run(side)  # type: ignore[arg-type]
        runs: list[list[bytes]] = [[]]
        gaps = [0]  # before each run
        for symbol in side:
            if symbol is not None:
                runs[-1].append(symbol)
            elif runs[-1]:
                runs.append([])
                gaps.append(1)
            else:
                gaps[-1] += 1
        whole = [run for run in runs if run]
        if not all(map(self._has_run, whole)):
            return False
        places: Sequence[int] = range(len(self._sentences))
        for word in itertools.chain.from_iterable(whole):
            places = min(places, self._places[word], key=len)
        texts = [b" %s " % b" ".join(run) if run else b"" for run in runs]
        return any(_fits(self._sentences[place], gaps, texts) for place in places)

    def _has_run(self, run: Sequence[bytes]) -> bool:
        """Whether these words follow each other somewhere."""
        if len(run) > _LONGEST:
            return self._has_run(run[:_LONGEST]) and b" %s " % b" ".join(run) in self._text
        known = self._phrases.get(len(run))
        if known is None:
            known = self._phrases[len(run)] = self._of_length(len(run))
        return b" ".join(run) in known

    def _of_length(self, size: int) -> set[bytes]:
        phrases: set[bytes] = set()
        for sentence in self._sentences:
            words = sentence[1:-1].split(b" ")
            phrases.update([b" ".join(words[i : i + size]) for i in range(len(words) + 1 - size)])
        return phrases


def _fits(sentence: bytes, gaps: Sequence[int], runs: Sequence[bytes]) -> bool:
    """Whether the runs are in the sentence with words between them: each as far to the left as it can be."""
    at = 0
    for gap, run in zip(gaps, runs, strict=True):
        for _ in range(gap):
            at = sentence.find(b" ", at + 1)
            if at < 0:
                return False
        if run:
            at = sentence.find(run, at)
            if at < 0:
                return False
            at += len(run) - 1
    return True
