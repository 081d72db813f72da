"""Tiny models, with which the conformance kit creates features and decoders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smtplugins.plugins.bitree.words.material import Pair
    from smtplugins.plugins.bitree.words.word_model import WordModel

_TEXT = (
    ("das haus ist gut", "a b c a", "0-0 1-1 2-2 3-3"),
    ("ja das haus", "b a d", "0-0 1-2 2-1"),
    ("haus das gut ist", "c b a", "0-0 1-2 2-1"),
    ("ist das gut", "c a b", "0-0 1-2 2-1"),
)


def _pairs() -> list[Pair]:
    from smtplugins.plugins.bitree.words.material import Pair

    pairs = []
    for source, target, links in _TEXT:
        points = tuple((int(i), int(j)) for i, j in (link.split("-") for link in links.split()))
        pairs.append(Pair(tuple(source.split()), tuple(target.split()), points))
    return pairs


def _words() -> WordModel:
    from smtplugins.plugins.bitree.boosting.boosting import boost
    from smtplugins.plugins.bitree.words.material import count_links, training_rows
    from smtplugins.plugins.bitree.words.predicting import Mixture
    from smtplugins.plugins.bitree.words.word_model import WordModel

    pairs = _pairs()
    rows = training_rows(pairs, count_links(pairs)).only("W")
    model = boost([rows.problem(word) for word in range(len(rows.words))], least=0.1)
    return WordModel({"W": model}, Mixture("W", {}))


def words_trial(folder: Path) -> dict[str, Any]:
    """Write a word model; return its option."""
    path = folder / "words"
    path.mkdir()
    _words().save(path)
    return {"model_path": path}


def transducer_trial(folder: Path) -> dict[str, Any]:
    """Write a discriminative transducer of right-branching trees; return its option."""
    from smtplugins.plugins.bitree.transduce.transducing import JoinRecipe, bitrees_of, learn_discriminative, shaped

    bitrees = bitrees_of(shaped(_pairs(), "right-branching"))
    path = folder / "transducer"
    path.mkdir()
    learn_discriminative(bitrees, _words(), JoinRecipe(least=0.1, held_out=0.0)).save(path)
    return {"model_path": path}
