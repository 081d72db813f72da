"""``@feature`` on functions and classes, through the same door as every other plugin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import FeatureError, PluginError, UsageError
from smtplugins.host.loading.shortcut import marked_offers

Plugin = Callable[[str, str], ModuleType]

QUESTION = """
from smtplugins import feature

@feature("question")
def question(source: str, hyp: str) -> float:
    "whether both ask"
    return float(source.endswith("?") == hyp.endswith("?"))
"""


def columns(module: ModuleType, *features: Any) -> list[dict[str, float]]:
    """The features of two hypotheses."""
    host = smt.load_plugins([module])
    one = smt.candidates(["a house ?", "a house"], source="ein haus ?")
    (scored,) = host.score([one], list(features))
    return [row for _, row, _ in scored.rows()]


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_function_reads_what_it_names(plugin: Plugin, future: str) -> None:
    module = plugin("q", future + QUESTION)
    assert columns(module, "question") == [{"question": 1.0}, {"question": 0.0}]
    (offer,) = marked_offers(module)
    assert (offer.name, offer.summary, offer.needs) == ("question", "whether both ask", {"source", "target"})


def test_function_can_be_given_itself(plugin: Plugin) -> None:
    module = plugin("q", QUESTION)
    assert columns(module, module.question) == [{"question": 1.0}, {"question": 0.0}]
    assert module.question("a ?", "b ?") == 1.0


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_keyword_only_parameters_are_typed_options(plugin: Plugin, future: str) -> None:
    code = future + (
        "from smtplugins import feature\n"
        "@feature('starts')\n"
        "def starts(hyp: str, *, word: str = 'a', weight: float = 1.0) -> float:\n"
        "    return weight * hyp.startswith(word)\n"
    )
    module = plugin("s", code)
    assert columns(module, "starts,word=a,weight=2.5")[0] == {"starts": 2.5}
    with pytest.raises(UsageError, match="feature 'starts': weight: expected a number, found 'x'"):
        columns(module, "starts,weight=x")
    with pytest.raises(UsageError, match="feature 'starts' has no option 'hyp'"):
        columns(module, "starts,hyp=x")


def test_annotations_for_type_checkers_only_do_no_harm(plugin: Plugin) -> None:
    code = (
        "from __future__ import annotations\n"
        "from smtplugins import feature\n"
        "@feature('f')\n"
        "def f(hyp: OnlyForCheckers) -> float:\n"
        "    return 1.0\n"
    )
    assert columns(plugin("f", code), "f") == [{"f": 1.0}, {"f": 1.0}]


def test_mapping_gives_open_names(plugin: Plugin) -> None:
    code = (
        "from collections import Counter\n"
        "from smtplugins import feature\n"
        "@feature('word')\n"
        "def word(hyp: str) -> dict[str, float]:\n"
        "    return Counter(w for w in hyp.split() if w != 'a')\n"
    )
    assert columns(plugin("w", code), "word") == [{"word:house": 1.0, "word:?": 1.0}, {"word:house": 1.0}]


def test_class_is_made_with_its_options(plugin: Plugin) -> None:
    code = (
        "from smtplugins import feature\n"
        "@feature('size', needs={'target'})\n"
        "class Size:\n"
        "    '''characters'''\n"
        "    def __init__(self, scale: float = 1.0):\n"
        "        self.scale = scale\n"
        "    def score_candidates(self, source, candidates):\n"
        "        return [self.scale * len(text) for text in candidates.texts]\n"
    )
    module = plugin("size", code)
    assert columns(module, "size,scale=2,name=double") == [{"double": 18.0}, {"double": 14.0}]
    (offer,) = marked_offers(module)
    assert (offer.summary, offer.needs) == ("characters", {"target"})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("hypothesis", "expected parameters among hyp, source, alignment, segmentation, or .*, found 'hypothesis'"),
        ("hyp, **more", "found 'more'"),
        ("*, weight=1", "expected a parameter to read, any of hyp, source, alignment, segmentation, or .*, found none"),
    ],
)
def test_wrong_parameters_are_refused_when_the_plugin_loads(tmp_path: Path, parameters: str, message: str) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(f"from smtplugins import feature\n@feature('wrong')\ndef wrong({parameters}):\n    return 1\n")
    with pytest.raises(PluginError, match=f"wrong.py' cannot be imported: TypeError: feature 'wrong': .*{message}"):
        smt.load_plugins([path])


def test_bad_name_is_refused(plugin: Plugin) -> None:
    with pytest.raises(ValueError, match="expected a name of letters"):
        plugin("n", "from smtplugins import feature\n@feature('a b')\ndef f(hyp): return 1\n")


def test_function_without_docstring_has_a_summary(plugin: Plugin) -> None:
    module = plugin("bare", "from smtplugins import feature\n@feature('bare')\ndef f(hyp): return 1\n")
    assert marked_offers(module)[0].summary == "bare, from bare"


def test_imported_and_doubly_bound_features_are_offered_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "shortcut_first.py").write_text(QUESTION + "again = question\n")
    (tmp_path / "shortcut_second.py").write_text("from shortcut_first import question\n")
    host = smt.load_plugins(["shortcut_first"])
    assert host.plugins[-1].offers == {"features": ("question",)}
    with pytest.raises(PluginError, match=r"'shortcut_second' .*offers nothing"):
        smt.load_plugins(["shortcut_second"])


def test_missing_alignment_names_the_remedy(plugin: Plugin) -> None:
    code = "from smtplugins import feature\n@feature('a')\ndef a(alignment): return 1\n"
    with pytest.raises(UsageError, match="needs the alignment: the decoder has to print word alignments"):
        columns(plugin("a", code), "a")


def test_mappings_and_numbers_do_not_mix(tmp_path: Path) -> None:
    (tmp_path / "mixed.py").write_text(
        "from smtplugins import feature\n@feature('mixed')\ndef mixed(hyp):\n"
        "    return {'k': 1.0} if hyp == 'a' else 0.0\n"
    )
    with pytest.raises(FeatureError, match="expected a mapping for every hypothesis or for none"):
        smt.load_plugins([tmp_path / "mixed.py"]).score([smt.candidates(["a", "b"])], ["mixed"]).load()


def test_functions_of_rules_are_for_decoders(plugin: Plugin) -> None:
    code = (
        "from smtplugins import feature\n"
        "@feature('longer')\n"
        "def longer(rule_source: str, rule_target: str) -> float:\n"
        "    return float(len(rule_target) > len(rule_source))\n"
        "@feature('ends')\n"
        "def ends(rule_target):\n"
        "    return {rule_target[-1:]: 1.0}\n"
    )
    module = plugin("r", code)
    longer, ends = sorted(marked_offers(module), key=lambda offer: offer.name, reverse=True)
    assert longer.needs == ends.needs == {"grammar"}
    assert (longer.factory().components, hasattr(ends.factory(), "components")) == (1, False)
    with pytest.raises(UsageError, match="needs the grammar: n-best lists have no grammar; use the feature in a dec"):
        columns(module, "longer")
    with pytest.raises(TypeError, match=r"expected parameters among .*, found 'hyp'"):
        plugin("mixed", code + "@feature('x')\ndef x(rule_target, hyp): return 1.0\n")


def test_values_of_rules_are_those_of_the_function(plugin: Plugin, tmp_path: Path) -> None:
    code = (
        "from smtplugins import feature\n"
        "@feature('sides')\n"
        "def sides(rule_source: str, rule_target: str) -> dict[str, float]:\n"
        "    return {f'{rule_source}>{rule_target}'.replace(' ', '_'): 1.0}\n"
    )
    module = plugin("r", code)
    (tmp_path / "rules").write_text("[X] ||| das [X,1] ||| the [X,1] ||| p=1\n[X] ||| haus ||| house ||| p=1\n")
    (tmp_path / "run.yaml").write_text("decoder: hiero\nmodel: {tables: rules}\n")
    made = smt.load_plugins([module]).translator(
        tmp_path / "run.yaml", features="sides", weights={"p": 1.0, "sides:haus>house": 2.0}, cache="off"
    )
    (decoding,) = made.decode(["das haus"])
    shown = {name for name in decoding.features if "haus" in name or "das" in name}
    assert shown == {"sides:das_[X,1]>the_[X,1]", "sides:haus>house"}
    assert decoding.score == pytest.approx(4.0)
