"""The plain phrase decoder against the native one: random tables, each reordering model, each limit; and Moses."""

from __future__ import annotations

import io
import itertools
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from smtformats.files import Lines
from smtformats.hypergraph import plf
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.models import Model
from smtplugins.core.graph.inference import kbest
from smtplugins.core.search.phrase_spans import phrase_spans
from smtplugins.host.config.resources import Resources
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.decode.translator import make_translator
from smtplugins.host.features.scoring import activate
from smtplugins.host.host import Host

README = Path(__file__).resolve().parents[3] / "smtplugins/plugins/reference/README.md"
WORDS, TARGETS = "abc", "xyz"
MODELS = {"msd": 3, "mslr": 4, "monotonicity": 2, "leftright": 2}
EXACT = "exhaustive=true"


class System:
    """A random phrase table, a reordering table of most of it, and a bigram model."""

    def __init__(
        self, host: Host, folder: Path, seed: int, model: str = "wbe-msd-bidirectional-fe", limit: int = 0
    ) -> None:
        rng = random.Random(seed)
        self.host = host
        folder.mkdir(exist_ok=True)
        sources = [p for n in (1, 2, 3) for p in itertools.product(WORDS, repeat=n) if rng.random() < 1.2 / n]
        pairs = {
            (" ".join(source), " ".join(rng.choice(TARGETS) for _ in range(rng.randint(1, 2))))
            for source in sources
            for _ in range(rng.randint(1, 3))
        }
        ordered = sorted(pairs)
        table, orders, arpa = folder / "table", folder / "orders", folder / "lm.arpa"
        number = lambda: f"{rng.uniform(0.05, 1):.3f}"  # noqa: E731
        table.write_text("".join(f"{s} ||| {t} ||| {number()} {number()} ||| 0-0 |||\n" for s, t in ordered))
        orientation, direction = (next(one for one in model.split("-") if one in known) for known in
                                  (MODELS, ("backward", "forward", "bidirectional")))  # fmt: skip
        width = MODELS[orientation] * (2 if direction == "bidirectional" else 1)
        rows = [pair for pair in ordered if rng.random() < 0.8] or ordered[:1]
        if not model.endswith("e") and "-fe" not in model:
            rows = [(source, "") for source in dict.fromkeys(source for source, _ in rows)]
        orders.write_text(
            "".join(f"{s}{f' ||| {t}' if t else ''} ||| {' '.join(number() for _ in range(width))}\n" for s, t in rows)
        )
        grams = ["<s> x", "x y", "y y", "z </s>", "y x", "<s> </s>"]
        words = ["<unk>", "<s>", "</s>", *TARGETS]
        arpa.write_text(
            f"\\data\\\nngram 1={len(words)}\nngram 2={len(grams)}\n\n\\1-grams:\n"
            + "".join(f"-{number()}\t{word}\t-{number()}\n" for word in words)
            + "\n\\2-grams:\n"
            + "".join(f"-{number()}\t{gram}\n" for gram in grams)
            + "\n\\end\\\n"
        )
        specs = [
            f"lexical-reordering,path={orders},model={model},default_scores={quoted(width)},name=R",
            "distortion,name=D",
            f"lm,path={arpa},name=LM",
            "word-penalty,name=W",
            "phrase-penalty,name=P",
            "oov,value=-5,name=U",
        ]
        features = tuple(activate(host.registry, specs))
        self.resources = Resources((RuleTable(table, name="TM", limit=limit),), features, tuple(host.formats()), "off")
        names = ["D", "LM", "W", "P", "U", "R", *(f"R[{k}]" for k in range(width)), "TM[0]", "TM[1]"]
        self.model = Model({name: rng.uniform(-0.5, 1) for name in names})

    def decode(self, spec: str, sentence: Sentence, graphs: bool = False) -> Decoding:
        decoder = self.host.registry.make("decoders", spec, given={"resources": self.resources})
        (found,) = decoder.decode(iter([sentence]), self.model, graphs=graphs)
        assert isinstance(found, Decoding)
        return found

    def both(
        self, sentence: Sentence, options: str, mine: str = EXACT, graphs: bool = False
    ) -> tuple[Decoding, Decoding]:
        native = "phrase,search=stack" + (",stack_size=0,beam_threshold=0" if mine == EXACT else f",{mine}")
        return (
            self.decode(f"reference-phrase,{mine},{options}", sentence, graphs),
            self.decode(f"{native},{options}", sentence, graphs),
        )


def quoted(width: int) -> str:
    return '"' + ",".join(["0.3"] * width) + '"'


def sentence(seed: int, size: int = 4) -> Sentence:
    rng = random.Random(seed)
    return Sentence(str(seed), tuple(rng.choice(WORDS + "q") for _ in range(size)))


def same(one: Decoding, other: Decoding) -> None:
    assert one.found == other.found
    assert one.best == other.best
    assert one.score == pytest.approx(other.score, abs=1e-4)
    for name in {*one.features, *other.features}:
        assert one.features.get(name, 0.0) == pytest.approx(other.features.get(name, 0.0), abs=1e-4), name


@pytest.mark.parametrize("orientation", MODELS)
@pytest.mark.parametrize("direction", ["backward", "forward", "bidirectional"])
def test_reordering_models_as_the_native_decoder(host: Host, tmp_path: Path, orientation: str, direction: str) -> None:
    for k, (kind, condition, weights) in enumerate(
        [("wbe", "fe", "allff"), ("phrase", "f", "allff"), ("wbe", "fe", "collapseff"), ("hier", "fe", "allff")]
    ):
        made = System(host, tmp_path / str(k), k, f"{kind}-{orientation}-{direction}-{condition}-{weights}")
        for seed in range(3):
            one, other = made.both(sentence(seed), "distortion_limit=-1")
            same(one, other)
            assert any(name.startswith("R") and value for name, value in one.features.items())


@pytest.mark.parametrize(
    "options",
    ["distortion_limit=0", "distortion_limit=1", "distortion_limit=2", "order=monotone", "order=swap",
     "max_phrase_length=1", "max_phrase_length=2,distortion_limit=3", "max_options=1"],
)  # fmt: skip
def test_limits_as_the_native_decoder(host: Host, tmp_path: Path, options: str) -> None:
    made = System(host, tmp_path, 5)
    for seed in range(6):
        same(*made.both(sentence(seed, 5), options))


def test_limits_of_tables(host: Host, tmp_path: Path) -> None:
    loose, tight = System(host, tmp_path, 6), System(host, tmp_path, 6, limit=1)
    worse = 0
    for seed in range(6):
        one, other = tight.both(sentence(seed), "distortion_limit=6")
        same(one, other)
        best = loose.decode(f"reference-phrase,{EXACT}", sentence(seed)).score
        assert best is not None and one.score is not None
        worse += one.score < best - 1e-6
    assert worse


def test_pruned_stacks_as_the_native_decoder(host: Host, tmp_path: Path) -> None:
    """Small stacks find less; what is kept differs where guesses at what is to come do."""
    found, worse = 0, 0
    made = System(host, tmp_path, 7)
    for seed in range(12):
        exact = made.decode("phrase,search=stack,stack_size=0,beam_threshold=0,distortion_limit=6", sentence(seed, 6))
        one, other = made.both(sentence(seed, 6), "distortion_limit=6", "stack_size=4")
        assert exact.score is not None and one.score is not None and other.score is not None
        assert max(one.score, other.score) <= exact.score + 1e-4
        worse += one.score < exact.score - 1e-4
        found += abs(one.score - other.score) < 1e-4
    assert found >= 8
    assert worse >= 1


def test_graphs_as_the_native_decoder(host: Host, tmp_path: Path) -> None:
    for seed in range(4):
        made = System(host, tmp_path / str(seed), seed)
        one, other = made.both(sentence(seed), "distortion_limit=2", graphs=True)
        assert one.graph is not None and other.graph is not None
        graphs = [one.graph(), other.graph()]
        lists = [kbest(graph, k=3000) for graph in graphs]
        assert len(lists[0]) == len(lists[1]) > 5
        assert lists[0].scores.tolist() == pytest.approx(lists[1].scores.tolist(), abs=1e-3)
        assert sorted(lists[0].texts()) == sorted(lists[1].texts())
        for graph in graphs:
            firsts, lasts = phrase_spans(graph)
            assert {(0, 1), (3, 4)} & set(zip(firsts.tolist(), lasts.tolist(), strict=True))


def test_lattices_as_the_native_decoder(host: Host, tmp_path: Path) -> None:
    made = System(host, tmp_path, 8)
    features = tuple(one for one in made.resources.features if one.label != "R")
    arcs = activate(host.registry, ["source-path,log=true,name=I"])
    made.resources = Resources(made.resources.tables, (*features, *arcs), made.resources.formats, "off")
    made.model = made.model.with_weights({**made.model.weights, "I": 0.7})
    text = "((('a',1,1),('b',0.4,2),),(('c',0.5,1),('q',0.5,1),),(('a',1,1),),(('b',0.9,1),('c',0.1,1),),)\n"
    for line in (text, "((('a',0.2,2),('c',0.8,1),),(('b',1,2),('a',1,1),),(('c',1,1),),(('a',1,1),),)\n"):
        (lattice,) = plf.parse(Lines(io.BytesIO(line.encode()), "in.plf"), name="I")
        for limit in ("-1", "1", "0"):
            one, other = made.both(Sentence("0", (), lattice=lattice), f"distortion_limit={limit},input=lattice")
            same(one, other)
            assert one.features["I"] != 0


def test_what_is_told(host: Host, tmp_path: Path) -> None:
    made = System(host, tmp_path, 9)
    one = made.decode(f"reference-phrase,{EXACT}", Sentence("0", ("a", "q")), graphs=True)
    assert "q" in one.best.split()
    assert one.trace is not None and one.graph is not None
    lines = list(one.trace())
    assert any(line.startswith("[1, 2) q ||| q  ") for line in lines)
    assert one.stats["steps"] == len(lines)
    empty = made.decode("reference-phrase", Sentence("1", ()), graphs=True)
    assert (empty.found, empty.best, dict(empty.features), list(empty.trace() if empty.trace else ())) == (
        True,
        "",
        {},
        [],
    )
    assert empty.graph is not None
    assert empty.graph().nodes == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [("stack_size=-1", "stack_size"), ("beam_threshold=2", "beam_threshold: expected a probability"),
     ("distortion_limit=-2", "distortion_limit: expected -1 or more"), ("search=cube", "expected one of stack")],
)  # fmt: skip
def test_options_that_do_not_fit(host: Host, options: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        host.registry.make("decoders", f"reference-phrase,{options}", given={"resources": Resources()})


def test_rules_with_gaps_are_refused(host: Host, tmp_path: Path) -> None:
    table = tmp_path / "rules"
    table.write_text("[X] ||| [X,1] b ||| [X,1] y ||| p=1\n")
    decoder = host.registry.make("decoders", "reference-phrase", given={"resources": Resources((RuleTable(table),))})
    with pytest.raises(UsageError, match="rules: expected phrases, found rules with gaps"):
        list(decoder.decode([Sentence("0", ("a", "b"))], Model({})))


def test_features_in_c_have_no_form_in_python(host: Host) -> None:
    from smtplugins import Offer
    from smtplugins.host.features.scoring import Active

    class InC:
        smt_feature_v1 = None

    own = Active("c", Offer(name="c", make=InC, summary="s"), InC())
    with pytest.raises(UsageError, match="'c' has no form in Python"):
        host.registry.make("decoders", "reference-phrase", given={"resources": Resources(features=(own,))})


@pytest.mark.shared
def test_the_best_of_moses(host: Host, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shortest sentences, with the tuned configuration, against the totals that Moses printed."""
    monkeypatch.chdir(shared / "gold/moses")
    decoder = "decoder={name: reference-phrase, stack_size: 20, distortion_limit: 6}"
    made = make_translator(host, load_config("model/moses.pb.tuned.ini", [decoder]), None, "off")
    lists = {one.id: one for one in host.read("pb/nbest100.align_seg.txt.gz")}
    sources = Path("in/test50.de").read_text().splitlines()
    chosen = sorted(range(50), key=lambda i: len(sources[i].split()))[:5]
    for i in chosen:
        (found,) = made.decode([Sentence(str(i), tuple(sources[i].split()))])
        best = lists[str(i)]
        assert best.totals is not None
        assert found.best == best.texts[0]
        assert found.score == pytest.approx(best.totals[0], rel=1e-5, abs=1e-3)
        printed = dict(zip(best.layouts[0], best.values[0], strict=True))
        for name, value in printed.items():
            assert found.features.get(name, 0.0) == pytest.approx(value, rel=1e-5, abs=1e-3), name


def test_the_example_prints_what_the_readme_says(tmp_path: Path) -> None:
    text = README.read_text().partition("## Phrases")[2]
    code, printed = re.search(r"```python\n(.*?)```.*?```\n(.*?)```", text, re.DOTALL).groups()  # type: ignore[union-attr]
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == printed


def test_all_of_a_search_can_be_seen(host: Host, tmp_path: Path) -> None:
    """Exhaustive means that limits of stacks do not count."""
    made: Any = System(host, tmp_path, 10)
    wide = made.decode(f"reference-phrase,{EXACT},stack_size=1,beam_threshold=1", sentence(1))
    same(wide, made.decode("reference-phrase,stack_size=0,beam_threshold=0", sentence(1)))
