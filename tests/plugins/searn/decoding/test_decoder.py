"""The decoder `amasis` against a plain one, all sequences of options, and its own graphs, lists and traces."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtformats import Candidates, FormatError
from smtformats.grammar.rules import Rule
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.models import Model
from smtplugins.core.graph.inference import kbest
from smtplugins.host.config.resources import Resources
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.decode.built_steps import source_words, target_words
from smtplugins.host.features.scoring import Active
from smtplugins.host.host import Host
from smtplugins.plugins.searn.decoding.decoder import Amasis, AmasisOptions
from smtplugins.plugins.searn.labels.labels import tree_of
from smtplugins.plugins.searn.labels.trees import target_order
from smtplugins.plugins.searn.learning.policy import HISTORY, PAPER, Policy
from smtplugins.testing.cases import DecoderChecks
from smtplugins.testing.decoders import itg_systems, phrase_systems
from smtplugins.testing.decoders import rule_systems as grammars
from smtplugins.testing.decoders.itg_systems import ItgSystem
from tests.plugins.searn.made_policies import history, random_policy
from tests.plugins.searn.plain_amasis import Plain

HISTORIES = ((), ("label",), ("depth",), ("label2", "fragment"), HISTORY)
OWN = tuple(f"itg-history[{k}]" for k in range(3))
ARPA = (
    "\\data\\\nngram 1=6\nngram 2=4\nngram 3=2\n\n"
    "\\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.3\n-0.7\t</s>\n-0.6\tA\t-0.2\n-0.9\tB\t-0.1\n-1.1\tC\t-0.4\n\n"
    "\\2-grams:\n-0.4\t<s> A\t-0.15\n-0.5\tA B\t-0.25\n-0.35\tB A\n-0.45\tC </s>\n\n"
    "\\3-grams:\n-0.2\t<s> A B\n-0.3\tA B A\n\n\\end\\\n"
)


class TestAmasis(DecoderChecks):
    offer = "amasis"


class TestMonotone(DecoderChecks):
    offer = "amasis"
    options = {"policy": "monotone"}  # noqa: RUF012
    exact = {"stack_size": 0}  # noqa: RUF012

    @pytest.fixture(autouse=True)
    def only_what_holds(self, request: pytest.FixtureRequest) -> None:
        if "hold_all" in request.node.name or "best_is_the_best" in request.node.name:
            pytest.skip("it does not try every order")


def decoder(system: ItgSystem, policy: Policy, folder: Path, host: Host, **options: Any) -> Amasis:
    """The decoder for a tiny system, with the policy's feature."""
    given = system.resources(folder, host)
    given = replace(given, features=(*given.features, history(policy, folder)))
    return Amasis(resources=given, options=AmasisOptions(**{**system.options, **options}))


def plain(system: ItgSystem, policy: Policy, weights: dict[str, float], **options: Any) -> Plain:
    table: dict[tuple[str, ...], list[tuple[tuple[str, ...], float]]] = {}
    for rule in [*system.rules, *(Rule("X", (one,), (one,)) for one in "abcz")]:
        known = any(other.source == rule.source for other in system.rules)
        if not rule.names and known:
            continue
        score = grammars.total(weights, rule.features()) + weights["kit-words"] * len(rule.target)
        score += 0.0 if rule.names else weights["kit-origin[0]"]
        table.setdefault(rule.source, []).append((rule.target, score))  # type: ignore[arg-type]
    return Plain(
        table,
        lambda a, b: weights["kit-pairs"] * grammars.value(a, b),
        policy,
        label_weights=tuple(weights.get(name, 0.0) for name in OWN),  # type: ignore[arg-type]
        longest=system.options["max_phrase_length"],
        **options,
    )


def made(seed: int, **more: float) -> tuple[ItgSystem, dict[str, float]]:
    (system,) = itg_systems.systems(1, seed)
    return system, {**system.weights, **dict(zip(OWN, (0.3, -0.2, -0.4), strict=True)), **more}


def check_parts(one: Decoding, sentence: Sentence, weights: dict[str, float], policy: Policy) -> None:
    """Score, features, steps and trace say the same."""
    assert one.score == pytest.approx(grammars.total(weights, one.features), abs=1e-4)
    assert one.built is not None and one.trace is not None
    steps = list(one.built())
    assert source_words(steps) == sentence.tokens
    assert " ".join(target_words(steps)) == one.best
    rows = [line.split("  ") for line in one.trace()]
    labels = [row[1].split(" ")[0] for row in rows[:-1]]
    targets = [row[0].split(" ||| ")[1].split() if " ||| " in row[0] else [] for row in rows[:-1]]
    order = target_order(tree_of(labels, lenient=True))
    assert " ".join(word for k in order for word in targets[k]) == one.best
    assert set(labels) <= set(policy.labels)


@pytest.mark.parametrize("templates", HISTORIES)
@pytest.mark.parametrize("decide", ["vote", "last"])
def test_one_label_for_each_option_finds_the_best_of_all_sequences(
    templates: tuple[str, ...], decide: str, tmp_path: Path, host: Host
) -> None:
    for seed in range(4):
        system, weights = made(seed)
        policy = random_policy(seed, (*PAPER, "bias", *templates))
        amasis = decoder(system, policy, tmp_path / f"{seed}", host, stack_size=0, decide=decide)
        oracle = plain(system, policy, weights, decide=decide)
        for sentence, one in zip(system.sentences, amasis.decode(system.sentences, Model(weights)), strict=True):
            every = list(oracle.every(sentence.tokens))
            score, words, items = max(every, key=lambda other: other[0])
            assert one.score == pytest.approx(score, abs=1e-4)
            near = [" ".join(other[1]) for other in every if other[0] > score - 1e-4]
            assert one.best in near
            check_parts(one, sentence, weights, policy)
            again = oracle.search(sentence.tokens)
            assert again[0] == pytest.approx(score)
            if len(near) == 1:
                assert " ".join(again[1]) == " ".join(words) == one.best
                assert one.trace is not None
                assert [line.split("  ")[1].split(" ")[0] for line in one.trace()][:-1] == [label for _, label in items]


@pytest.mark.parametrize("labels", [1, 2, 3, 0])
@pytest.mark.parametrize("stack_size", [1, 2, 5, 30])
def test_pruned_stacks_are_those_of_the_plain_decoder(stack_size: int, labels: int, tmp_path: Path, host: Host) -> None:
    for seed, templates in enumerate(HISTORIES):
        system, weights = made(seed + 20)
        policy = random_policy(seed, (*PAPER, *templates))
        amasis = decoder(system, policy, tmp_path / f"{seed}", host, stack_size=stack_size, labels=labels)
        oracle = plain(system, policy, weights, stack_size=stack_size, labels=labels)
        for sentence, one in zip(system.sentences, amasis.decode(system.sentences, Model(weights)), strict=True):
            assert one.score == pytest.approx(oracle.search(sentence.tokens)[0], abs=1e-4)
            check_parts(one, sentence, weights, policy)


@pytest.mark.parametrize("templates", [(), ("label", "fragment")])
def test_graphs_lists_and_strings(templates: tuple[str, ...], tmp_path: Path, host: Host) -> None:
    """Each derivation of a graph has the score of its features; without pruning all sequences of options are there."""
    for seed in range(3):
        system, weights = made(seed + 40)
        policy = random_policy(seed, (*PAPER, *templates))
        oracle = plain(system, policy, weights)
        for recombine in ("states", "strings"):
            where = tmp_path / f"{recombine}{seed}"
            amasis = decoder(system, policy, where, host, stack_size=0, recombine=recombine)
            pruned = decoder(system, policy, where, host, stack_size=3, recombine=recombine)
            found = list(amasis.decode(system.sentences, Model(weights), graphs=True))
            for sentence, one in zip(system.sentences, found, strict=True):
                every = sorted((other[0] for other in oracle.every(sentence.tokens)), reverse=True)
                assert one.graph is not None
                graph = one.graph()
                listed = kbest(graph, k=len(every) + 1)
                assert listed.scores.tolist() == pytest.approx(every, abs=1e-4)
                for derivation, score in zip(listed, listed.scores.tolist(), strict=True):
                    row = dict(zip(graph.names[:], derivation.features().tolist(), strict=True))
                    assert grammars.total(weights, row) == pytest.approx(score, abs=1e-4)
                assert one.score == pytest.approx(every[0], abs=1e-4)
            for graphs in (False, True):
                for one, other in zip(
                    pruned.decode(system.sentences, Model(weights)),
                    pruned.decode(system.sentences, Model(weights), graphs=graphs),
                    strict=True,
                ):
                    assert (one.best, one.score) == (other.best, other.score)


def test_fewer_hypotheses_are_one_if_their_words_have_to_be_the_same(tmp_path: Path, host: Host) -> None:
    system, weights = made(3)
    policy = random_policy(1, PAPER)
    kept = {}
    for recombine in ("states", "strings"):
        amasis = decoder(system, policy, tmp_path / recombine, host, stack_size=0, recombine=recombine)
        graphs = [one.graph for one in amasis.decode(system.sentences, Model(weights), graphs=True)]
        kept[recombine] = sum(one().nodes for one in graphs if one is not None)
    assert kept["states"] < kept["strings"]


def test_draws_are_of_all_policies_and_repeat(tmp_path: Path, host: Host) -> None:
    """A policy that is drawn for each decision: with one share of 1 the decisions are its own."""
    system, weights = made(8)
    policy = random_policy(8, (*PAPER, "depth"))
    alone = replace(policy, shares=np.array([0.0, 1.0, 0.0]))
    sure = list(decoder(system, alone, tmp_path / "a", host, decide="draw").decode(system.sentences, Model(weights)))
    second = replace(policy, weights=policy.weights[1:2], shares=np.ones(1))
    wanted = list(decoder(system, second, tmp_path / "b", host).decode(system.sentences, Model(weights)))
    assert [one.best for one in sure] == [one.best for one in wanted]
    texts = {
        seed: [
            one.best
            for one in decoder(system, policy, tmp_path / "c", host, decide="draw", seed=seed, stack_size=2).decode(
                system.sentences, Model(weights), threads=threads
            )
        ]
        for seed, threads in ((1, 1), (2, 1), (3, 1))
    }
    again = decoder(system, policy, tmp_path / "c", host, decide="draw", seed=1, stack_size=2)
    assert [one.best for one in again.decode(system.sentences, Model(weights), threads=3)] == texts[1]
    assert len(set(map(tuple, texts.values()))) > 1


def test_a_beam_keeps_what_is_near_the_best(tmp_path: Path, host: Host) -> None:
    system, weights = made(5)
    policy = random_policy(5, PAPER)
    made_of = []
    for threshold in (0.0, 0.3, 1.0):
        amasis = decoder(system, policy, tmp_path / "a", host, stack_size=0, beam_threshold=threshold)
        found = list(amasis.decode(system.sentences, Model(weights)))
        made_of.append(sum(one.stats["hypotheses"] for one in found))
    assert made_of[0] > made_of[1] > made_of[2]
    greedy = decoder(system, policy, tmp_path / "a", host, stack_size=1)
    assert sum(one.stats["hypotheses"] for one in greedy.decode(system.sentences, Model(weights))) == made_of[2]


def test_a_language_model_in_native_code_says_what_one_in_python_says(tmp_path: Path, host: Host) -> None:
    """The same search, once with the model's own scorer and once with one that is asked through Python."""
    from smtplugins.host.features.scoring import activate

    arpa = tmp_path / "tiny.arpa"
    arpa.write_text(ARPA, encoding="utf-8")
    (native,) = activate(host.registry, [{"name": "lm", "path": str(arpa)}])

    class Slow:
        """The feature without its native form."""

        def start(self, sentence: Sentence) -> Any:
            return native.feature.start(sentence)

    slow = Active("lm", native.offer, Slow())
    for seed in range(4):
        system, weights = made(seed + 60, lm=0.7)
        policy = random_policy(seed, (*PAPER, "fragment"))
        found = []
        for feature in (native, slow):
            given = system.resources(tmp_path / "system", host)
            features = (*given.features, feature, history(policy, tmp_path))
            amasis = Amasis(
                resources=replace(given, features=features), options=AmasisOptions(stack_size=4, **system.options)
            )
            found.append(list(amasis.decode(system.sentences, Model(weights))))
        for sentence, one, other in zip(system.sentences, *found, strict=True):
            assert one.best == other.best
            assert one.score == pytest.approx(other.score, abs=1e-4)
            assert dict(one.features) == pytest.approx(dict(other.features), abs=1e-4)
            _, ((whole,),) = native.score(Candidates(sentence.id, [one.best], [()], [[]]))
            assert one.features["lm"] == pytest.approx(whole, abs=1e-4)


def test_words_may_be_left_out(tmp_path: Path, host: Host) -> None:
    table, nulls = tmp_path / "table", tmp_path / "nulls.gz"
    table.write_text("[X] ||| ja ||| yes ||| p=0\n[X] ||| haus ||| house ||| p=0\n")
    with gzip.open(nulls, "wt") as out:
        out.write("ja ||| 0.25 3\nhaus ||| 0.001 1\n")
    given = Resources((RuleTable(table),), (grammars.active("kit-words"),), tuple(host.formats()))

    def best(weights: dict[str, float], **options: Any) -> Decoding:
        amasis = Amasis(resources=given, options=AmasisOptions(policy="monotone", nulls_path=nulls, **options))
        (one,) = amasis.decode([Sentence("0", ("ja", "haus"))], Model(weights))
        return one

    assert best({"null": 1.0}).best == "yes house"
    one = best({"null": 1.0, "kit-words": -2.0})
    assert one.best == "house" and one.features["null"] == pytest.approx(np.log(0.25))
    assert one.built is not None
    assert source_words(list(one.built())) == ("ja", "haus")
    assert best({"null": 1.0, "kit-words": -20.0}).best == ""
    assert best({"null": 1.0, "kit-words": -20.0}, null_threshold=0.1).best == "house"
    with pytest.raises(UsageError, match="expected a weight of 'null'"):
        best({})
    nulls.write_bytes(b"ja ||| 2 3\n")
    with pytest.raises(FormatError, match=r"nulls\.gz:1: expected a word"):
        best({"null": 1.0})


def test_what_cannot_be_is_said(tmp_path: Path, host: Host) -> None:
    system, weights = made(1)
    given = system.resources(tmp_path, host)
    with pytest.raises(UsageError, match=r"expected policy_path, a model that `smt searn train` made, found none"):
        Amasis(resources=given, options=AmasisOptions())
    with pytest.raises(UsageError, match="expected policy=monotone or policy_path, found both"):
        Amasis(resources=given, options=AmasisOptions(policy="monotone", policy_path=tmp_path))
    with pytest.raises(SmtError, match=r"expected a policy, found no policy\.json"):
        Amasis(resources=given, options=AmasisOptions(policy_path=tmp_path))
    with pytest.raises(UsageError, match="labels: expected 0 or more, found -1"):
        Amasis(resources=given, options=AmasisOptions(policy="monotone", labels=-1))
    with pytest.raises(UsageError, match="expected a probability, found 2"):
        Amasis(resources=given, options=AmasisOptions(policy="monotone", beam_threshold=2.0))
    with pytest.raises(UsageError, match="feature 'kit-jumps' needs phrases appended from left to right"):
        Amasis(resources=replace(given, features=(phrase_systems.jumps(),)), options=AmasisOptions(policy="monotone"))
    own = history(random_policy(1, PAPER), tmp_path / "one")
    with pytest.raises(UsageError, match="'itg-history' has another policy than the decoder"):
        Amasis(resources=replace(given, features=(own,)), options=AmasisOptions(policy="monotone"))
    with pytest.raises(UsageError, match="expected one feature itg-history"):
        Amasis(resources=replace(given, features=(own, replace(own, label="again"))), options=AmasisOptions())
    few = Amasis(resources=given, options=AmasisOptions(policy="monotone", max_edges=3))
    with pytest.raises(SmtError, match="more than 3 hypotheses: lower stack_size or raise max_edges"):
        list(few.decode(system.sentences, Model(weights)))
    gaps = tmp_path / "gaps"
    gaps.write_text("[X] ||| a [X,1] ||| A [X,1] ||| p=1\n")
    with pytest.raises(UsageError, match="expected phrases, found rules with gaps"):
        list(
            Amasis(resources=Resources((RuleTable(gaps),)), options=AmasisOptions(policy="monotone")).decode(
                (), Model({})
            )
        )


def test_a_sentence_without_words_has_a_translation_without_words(tmp_path: Path, host: Host) -> None:
    system, weights = made(1)
    amasis = Amasis(resources=system.resources(tmp_path, host), options=AmasisOptions(policy="monotone"))
    (one,) = amasis.decode([Sentence("0", ())], Model(weights), graphs=True)
    assert one.found and one.best == "" and one.score == 0.0 and one.graph is not None
    assert one.graph().nodes == 0
    assert one.trace is not None and list(one.trace()) == ["no derivation"]


def test_traces_tell_labels_and_what_they_could_not_do(tmp_path: Path, host: Host) -> None:
    table = tmp_path / "table"
    table.write_text("".join(f"[X] ||| {word} ||| {word.upper()} ||| p=0\n" for word in "abc"))
    labels = ("S", "S,R-", "S,R-,R+")
    names = ("source=a", "source=b", "source=c")
    weights = np.zeros((1, 3, 3), dtype=np.float32)
    weights[0, [0, 1, 2], [1, 0, 2]] = 1.0
    Policy(labels, ("source",), names, weights, np.ones(1)).save(tmp_path / "policy")
    given = Resources((RuleTable(table),), (), tuple(host.formats()))
    amasis = Amasis(resources=given, options=AmasisOptions(policy_path=tmp_path))
    found = list(amasis.decode([Sentence("0", tuple("abc")), Sentence("1", tuple("bb"))], Model({"p": 1.0})))
    assert [one.best for one in found] == ["A C B", "B B"]
    traces = [list(one.trace()) for one in found if one.trace is not None]
    assert traces[0] == [
        "[0, 1) a ||| A  S,R- (0 of 1)",
        "[1, 2) b ||| B  S",
        "[2, 3) c ||| C  S,R-,R+",
        "end  -  0.0000",
    ]
    assert traces[1][-1] == "end  R+  0.0000"
    assert found[0].built is not None
    assert [one.rule for one in found[0].built()][:3] == ["[X] ||| a ||| A", "[X] ||| b ||| B", "[X] ||| c ||| C"]
    assert found[0].built()[3].rule == "[X] ||| [X,1] [X,2] ||| [X,2] [X,1]"
