"""A tiny event list, language model and bigrams, for the features' conformance tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smtplugins.plugins.localized.events.event_lists import EventList

_ARPA = (
    "\\data\\\nngram 1=6\nngram 2=4\nngram 3=2\n\n"
    "\\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.3\n-0.7\t</s>\n-0.6\ta\t-0.2\n-0.9\tb\t-0.1\n-0.8\tc\t-0.15\n\n"
    "\\2-grams:\n-0.4\t<s> a\t-0.15\n-0.5\ta b\t-0.25\n-0.35\tb a\n-0.45\tb </s>\n\n"
    "\\3-grams:\n-0.2\t<s> a b\n-0.3\ta b </s>\n\n\\end\\\n"
)
_BITEXT = (("das haus ist gut ja", "a b a c"), ("ja das haus", "b a b"), ("haus das gut ist", "c b a"))


def _collect_events(folder: Path) -> EventList:
    from smtformats.grammar.rules import Rule
    from smtformats.grammar.shared.gather import grammar_columns
    from smtplugins.plugins.localized.events.blocks import BlockSet
    from smtplugins.plugins.localized.events.collecting import collect

    targets = [("a",), ("b",), ("c",), ("a", "b"), ("b", "a")]
    sources = [("das",), ("haus",), ("ist",), ("gut",), ("ja",), ("das", "haus"), ("ist", "gut")]
    rules = [Rule("X", source, target) for source in sources for target in targets]
    pairs = ((source, target, None) for source, target in _BITEXT)
    return collect(BlockSet.from_grammar(grammar_columns(rules)), pairs, folder / "events")


def orientation_trial(folder: Path) -> dict[str, Any]:
    """Make the options of ``orientation``."""
    _collect_events(folder)
    return {"path": folder / "events"}


def bigram_trial(folder: Path) -> dict[str, Any]:
    """Make the options of ``block-bigram``."""
    import numpy as np

    from smtplugins.plugins.localized.model.bigrams import BigramWeights

    listed = _collect_events(folder)
    first, second, _ = listed.bigrams(0)
    weights = np.linspace(-1, 1, len(first)).astype(np.float32)
    BigramWeights(listed.blocks, first, second, weights).save(folder / "bigrams")
    return {"path": folder / "bigrams"}


def model_trial(folder: Path) -> dict[str, Any]:
    """Make the options of ``block-model``."""
    (folder / "tiny.arpa").write_text(_ARPA, encoding="utf-8")
    bigrams = bigram_trial(folder)["path"]
    paths = {"events_path": folder / "events", "lm_path": folder / "tiny.arpa", "bigrams_path": bigrams}
    return {**paths, "min_left": 2}
