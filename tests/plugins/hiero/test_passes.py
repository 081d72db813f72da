"""Passes over a forest, against all derivations of the first pass with their features."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtformats import FormatError
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.core.graph.inference import kbest
from smtplugins.host.config.run_yaml import RunConfig, load_config

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/decode-hiero"
FIRST = {"EgivenF": 0.6, "FgivenE": 0.3, "P": -5.0, "W": -0.5}
SECOND = {"EgivenF": 0.2, "FgivenE": 0.9, "P": -5.0, "W": -1.2, "LM": 0.9, "S": 0.4, "Post": 2.0}
LM = f"lm,path={EXAMPLE / 'en.arpa'},base=10,name=LM"
SOURCES = ("der koch schläft .", "der junge sah gestern einen kleinen hund .")


@pytest.fixture(scope="module")
def host() -> smt.Host:
    return smt.load_plugins()


def config(passes: list[dict[str, Any]], folder: Path, **decoder: Any) -> RunConfig:
    """A first pass without a language model, exact, and these."""
    (folder / "second").write_text("".join(f"{name} {value}\n" for name, value in SECOND.items()))
    (folder / "run.yaml").write_text("{}")
    model = {
        "tables": str(EXAMPLE / "rules.txt"),
        "features": ["word-penalty,value=1,name=W", "pass-through,name=P"],
        "passes": passes,
    }
    settings = {"decoder": {"name": "hiero", "search": "full", **decoder}, "model": model}
    return load_config(folder / "run.yaml", list(settings.items()))


def decoded(host: smt.Host, made: RunConfig, text: str, **options: Any) -> Decoding:
    translator = host.translator(made, weights=FIRST, cache="off")
    return translator.decode_one(Sentence("0", tuple(text.split())), **options)


def graph_of(decoding: Decoding) -> Hypergraph:
    assert decoding.graph is not None
    return decoding.graph()


def sums_of(graph: Hypergraph) -> list[tuple[dict[str, float], set[int], str]]:
    """Features, edges and text of every derivation."""
    found = kbest(graph, None, 100_000)
    assert len(found) < 100_000
    return [
        (dict(zip(graph.names[:], one.features().tolist(), strict=True)), set(one.edges.tolist()), one.text)
        for one in found
    ]


def total(features: dict[str, float], weights: dict[str, float]) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in features.items())


def lm_of(host: smt.Host, folder: Path, text: str) -> dict[str, float]:
    """The language model's score of each translation, from a single pass with it."""
    graph = graph_of(decoded(host, config([], folder).with_features([LM]), text, graphs=True))
    return {words: features["LM"] for features, _, words in sums_of(graph)}


@pytest.mark.parametrize("text", SOURCES)
@pytest.mark.parametrize("beam", [0.3, 1.0, None])
def test_the_second_pass_finds_the_best_of_what_the_first_one_kept(
    host: smt.Host, tmp_path: Path, text: str, beam: float | None
) -> None:
    first = graph_of(decoded(host, config([], tmp_path), text, graphs=True))
    every = sums_of(first)
    scores = [total(features, FIRST) for features, _, _ in every]
    # The best derivation that each edge is in.
    through = [max(s for s, (_, edges, _) in zip(scores, every, strict=True) if e in edges) for e in range(len(first))]
    cut = -math.inf if beam is None else max(scores) - beam - 1e-6
    kept = [(features, words) for features, edges, words in every if all(through[edge] >= cut for edge in edges)]
    assert len(kept) == len(every) if beam is None else 0 < len(kept) < len(every)

    lm = lm_of(host, tmp_path, text)
    wanted = [
        # "S" counts the words of the input, which all derivations have.
        total(features, SECOND) + SECOND["LM"] * lm[words] + SECOND["S"] * len(text.split())
        for features, words in kept
    ]
    later = {"features": [LM, "source-word-penalty,value=1,name=S"], "weights": "second"}
    own = {} if beam is None else {"beam_prune": beam}
    found = decoded(host, config([later], tmp_path, **own), text, graphs=True)
    assert found.score == pytest.approx(max(wanted), abs=1e-4)
    assert sorted(kbest(graph_of(found), None, 100_000).scores) == pytest.approx(sorted(wanted), abs=1e-4)
    assert total(dict(found.features), SECOND) == pytest.approx(found.score, abs=1e-4)
    assert found.best in {words for _, words in kept}


def test_cube_pruning_in_a_pass_finds_no_more_and_a_third_pass_may_prune(host: smt.Host, tmp_path: Path) -> None:
    def scores(*passes: dict[str, Any]) -> list[float]:
        return kbest(graph_of(decoded(host, config(list(passes), tmp_path), SOURCES[1], graphs=True)), None, 500).scores

    full = {"features": [LM], "weights": "second"}
    every, few = scores(full), scores({**full, "search": "cube_pruning", "pop_limit": 2})
    assert len(few) < len(every)
    assert few[0] <= every[0] + 1e-6
    # The third pass has the weights of the second, and a narrower forest.
    third = scores(full, {"features": ["source-word-penalty,value=1,name=S"], "density_prune": 1.0})
    assert len(third) < len(every)
    assert third[0] == pytest.approx(every[0] + SECOND["S"] * len(SOURCES[1].split()), abs=1e-4)


def test_density_is_by_the_edges_of_the_best_derivation(host: smt.Host, tmp_path: Path) -> None:
    """The edge with this rank is the last to stay, and edges that are as good."""
    first = graph_of(decoded(host, config([], tmp_path), SOURCES[1], graphs=True))
    every = sums_of(first)
    scores = [total(features, FIRST) for features, _, _ in every]
    through = [max(s for s, (_, edges, _) in zip(scores, every, strict=True) if e in edges) for e in range(len(first))]
    size = len(every[0][1])
    for density in (1.0, 1.5, 2.0, 1000.0):
        pruned = graph_of(decoded(host, config([], tmp_path, density_prune=density), SOURCES[1], graphs=True))
        cut = sorted(through, reverse=True)[min(int(size * density), len(first) - 1)] - 1e-6
        assert len(pruned) == sum(score >= cut for score in through)
    # With both limits the stricter one counts.
    both = [
        len(graph_of(decoded(host, config([], tmp_path, **own), SOURCES[1], graphs=True)))
        for own in ({"beam_prune": 0.3}, {"density_prune": 1000.0, "beam_prune": 0.3}, {"density_prune": 1.0})
    ]
    assert both[0] == both[1] < len(first)


@pytest.mark.parametrize("kind", ["node_risk", "edge_risk", "edge_prob"])
def test_summaries_are_posteriors_of_all_derivations(host: smt.Host, tmp_path: Path, kind: str) -> None:
    first = graph_of(decoded(host, config([], tmp_path), SOURCES[0], graphs=True))
    every = sums_of(first)
    masses = [math.exp(total(features, FIRST)) for features, _, _ in every]

    def mass(edges: set[int]) -> float:
        return sum(m for m, (_, own, _) in zip(masses, every, strict=True) if own & edges) / sum(masses)

    heads = first.heads.tolist()
    nodes = [mass({e for e, head in enumerate(heads) if head == heads[edge]}) for edge in range(len(first))]
    edges = [mass({edge}) for edge in range(len(first))]
    wanted = {"node_risk": nodes, "edge_risk": edges}.get(kind) or [
        math.log(e / n) for e, n in zip(edges, nodes, strict=True)
    ]
    made = config([], tmp_path, summary="Post", summary_type=kind)
    found = decoded(host, made, SOURCES[0], graphs=True)
    graph = graph_of(found)
    assert [graph.edge_features(e).get("Post", 0.0) for e in range(len(graph))] == pytest.approx(wanted, abs=1e-5)
    # It has no weight here, and counts with that of the next pass.
    assert found.score == pytest.approx(max(total(features, FIRST) for features, _, _ in every), abs=1e-4)
    again = decoded(host, config([{"weights": "second"}], tmp_path, summary="Post", summary_type=kind), SOURCES[0])
    best = max(total(features, SECOND) + SECOND["Post"] * sum(wanted[e] for e in own) for features, own, _ in every)
    assert again.score == pytest.approx(best, abs=1e-4)


def test_traces_and_steps_are_those_of_the_last_pass(host: smt.Host, tmp_path: Path) -> None:
    found = decoded(host, config([{"features": [LM], "weights": "second"}], tmp_path), SOURCES[0])
    assert found.trace is not None
    assert found.built is not None
    lines = list(found.trace())
    assert lines[0].startswith("[0, 4) Goal -> ")
    assert float(lines[0].split()[-1]) == pytest.approx(found.score, abs=1e-3)
    assert sum(step.score for step in found.built()) == pytest.approx(found.score, abs=1e-4)


def test_no_derivation(host: smt.Host, tmp_path: Path) -> None:
    found = decoded(host, config([{"features": [LM]}], tmp_path, pass_through="none"), "xyz", graphs=True)
    assert (found.found, found.best, len(graph_of(found))) == (False, "", 0)


@pytest.mark.parametrize(
    ("passes", "decoder", "message"),
    [
        ([{"features": ["no-such"]}], {}, "model.passes.0.features.0: unknown feature 'no-such'"),
        ([{"features": ["word-penalty,name=W"]}], {}, "model.passes.0.features.0: "),
        ([{"search": "cube"}], {}, "search: expected cube_pruning or full, found 'cube'"),
        ([{}, {"pop_limit": 0}], {}, "pass 3: pop_limit: expected 1 or more, found 0"),
        ([{"beam_prune": "wide"}], {}, "model.passes.0.beam_prune: expected a number, found 'wide'"),
        ([{"weights": "absent"}], {}, "absent"),
        ([{"beams": 1}], {}, "model.passes.0.beams: unknown key"),
        ([{}], {"name": "reference"}, "model.passes: expected a decoder with passes (hiero), found one without"),
        ([], {"density_prune": 0.5}, "density_prune: expected 1 or more, found 0.5"),
        ([], {"beam_prune": -1.0}, "beam_prune: expected 0 or more, found -1.0"),
    ],
)
def test_faults(
    host: smt.Host, tmp_path: Path, passes: list[dict[str, Any]], decoder: dict[str, Any], message: str
) -> None:
    def failing() -> None:
        made = config(passes, tmp_path, **{key: value for key, value in decoder.items() if key != "name"})
        decoded(host, made.with_decoder(Spec(decoder["name"], {})) if "name" in decoder else made, SOURCES[0])

    with pytest.raises((UsageError, SmtError, OSError)) as caught:
        failing()
    assert message in str(caught.value)


def test_weights_of_a_pass_are_checked(host: smt.Host, tmp_path: Path) -> None:
    made = config([{"weights": "second"}], tmp_path)
    with pytest.raises(UsageError, match=r"second: weights of unknown features: .*'LM'"):
        list(host.translator(made, weights=FIRST, cache="off").decode(["der koch"]))


def test_a_summary_named_like_a_feature_is_refused_with_its_line(host: smt.Host, tmp_path: Path) -> None:
    (tmp_path / "weights").write_text("EgivenF 1\n")
    text = f"formalism=scfg\ngrammar={EXAMPLE / 'rules.txt'}\nweights={tmp_path / 'weights'}\nbeam_prune=9\n"
    for line, message in (
        ("summary_feature=EgivenF\n", r"5: decoder\.summary: .* found 'EgivenF'"),
        ("summary_feature=Glue\n", r"5: decoder\.summary: .* found 'Glue'"),
        ("weights2=weights\nsummary_feature2=EgivenF\n", r"6: model\.passes\.0\.summary: .* found 'EgivenF'"),
        ("summary_feature=A\nbeam_prune2=9\nsummary_feature2=A\n", r"5: decoder\.summary: .* found 'A'"),
    ):
        (tmp_path / "cdec.ini").write_text(text + line.replace("=weights", f"={tmp_path / 'weights'}"))
        with pytest.raises(SmtError, match=rf"cdec\.ini:{message}"):
            host.show_config(tmp_path / "cdec.ini", load=True, cache="off")
    notes: list[str] = []
    later = {"features": [LM, "source-word-penalty,value=1,name=S"], "weights": "second"}
    made = config([{**later, "summary": "Post"}], tmp_path)
    list(host.translator(made, weights=FIRST, cache="off", note=notes.append).decode(["der koch"]))
    assert not notes
    (tmp_path / "second").write_text("LM 1e39\n")
    with pytest.raises(FormatError, match=r"second:1: .*fits 32-bit floats"):
        host.translator(made, weights=FIRST, cache="off")


def test_learning_needs_shared_weights(host: smt.Host, tmp_path: Path) -> None:
    (tmp_path / "ref").write_text("the cook\n")
    (tmp_path / "in").write_text("der koch\n")
    later = {"features": [LM, "source-word-penalty,value=1,name=S"], "summary": "Post", "weights": "second"}
    made = replace(config([later], tmp_path), source=tmp_path / "in", references=(tmp_path / "ref",))
    with pytest.raises(UsageError, match=r"expected a pass without weights, .*; remove .*second"):
        host.tune_decoder(made, folder=tmp_path / "run", learner="mert")


def test_a_summary_has_a_name_of_its_own(host: smt.Host, tmp_path: Path) -> None:
    made = config([], tmp_path, summary="W", beam_prune=5)
    with pytest.raises(SmtError, match="summary: expected a name that no feature has, found 'W'"):
        list(host.translator(made, weights=FIRST, cache="off").decode(["der koch"]))
