"""A tiny word model, with which the conformance kit creates the decoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_PAIRS = (
    ("a b c", "u v x", "0-0 1-1 2-2"),
    ("b a c", "v w x", "0-0 1-1 2-2"),
    ("c a b", "x u v", "0-0 1-1 2-2"),
    ("a c", "w", "0-0"),
)


def bag_trial(folder: Path) -> dict[str, Any]:
    """Write a word model; return the option of ``bag``."""
    from smtplugins.plugins.bitree.words.material import Pair
    from smtplugins.plugins.bitree.words.word_training import PathOptions, train_words

    pairs = []
    for source, target, links in _PAIRS * 4:
        points = tuple((int(link[0]), int(link[2])) for link in links.split())
        pairs.append(Pair(tuple(source.split()), tuple(target.split()), points))
    model = train_words(pairs, pairs, ("W", "WC"), PathOptions(0.5), lambda text: None)
    (folder / "words").mkdir()
    model.save(folder / "words")
    return {"model_path": folder / "words"}
