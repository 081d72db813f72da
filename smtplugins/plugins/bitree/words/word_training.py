"""Learn word transduction: boosted trees of each configuration, lambda chosen on the tuning text, the mixture.

Sections 7.3.3 and 7.4.2: a run per configuration follows the whole regularisation path; the best lambda is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.running import add_number
from smtplugins.plugins.bitree.boosting.boosting import EPSILON, boost
from smtplugins.plugins.bitree.words.atoms import DEPENDENCY, configurations, shown_configuration
from smtplugins.plugins.bitree.words.material import Pair, TokenRows, count_links, rows_like, training_rows
from smtplugins.plugins.bitree.words.predicting import Mixture, choose_lambda, predict_boosted
from smtplugins.plugins.bitree.words.word_model import WordModel

if TYPE_CHECKING:
    import argparse

    from smtplugins.plugins.bitree.boosting.boosted_model import BoostedModel

Say = Callable[[str], None]


@dataclass(frozen=True)
class PathOptions:
    """Options of the regularisation path: ``least`` is the lambda at which it ends."""

    least: float = 1.0
    eta: float = 0.9
    epsilon: float = EPSILON
    depth: int = 0
    jobs: int = 1


def add_path(parser: argparse.ArgumentParser) -> None:
    """The options of :class:`PathOptions`."""
    default = PathOptions()
    add_number(parser, "--least", default.least, "lambda at which the path ends", "L")
    add_number(parser, "--eta", default.eta, "factor by which lambda falls", "X")
    add_number(parser, "--epsilon", default.epsilon, "minimum relative reduction of the risk by a tree", "X")
    add_number(parser, "--depth", default.depth, "maximum literals of a conjunction, 0: no limit")


def path_of(args: argparse.Namespace) -> PathOptions:
    """The path options of parsed arguments."""
    return PathOptions(args.least, args.eta, args.epsilon, args.depth, args.jobs)


def chosen_configurations(requested: Sequence[str] | None, trees: bool) -> tuple[str, ...]:
    """The requested configurations, as letters, or by default all that are possible."""
    known = configurations(trees)
    if not requested:
        return known
    letters = tuple(dict.fromkeys(name.replace("+", "") for name in requested))
    for name in letters:
        if name not in known:
            lacking = " (which needs source trees)" if name in configurations(True) else ""
            choices = ", ".join(map(shown_configuration, known))
            raise UsageError(f"expected configurations of {choices}, found {name!r}{lacking}")
    return letters


def learn_configuration(
    training: TokenRows, tuning: TokenRows, letters: str, path: PathOptions
) -> tuple[BoostedModel, dict[str, Any]]:
    """Learn the trees of a configuration, cut at the best lambda on the tuning rows; return them with a record."""
    rows = training.only(letters)
    problems = [rows.problem(word) for word in range(len(rows.words))]
    whole = boost(problems, least=path.least, eta=path.eta, epsilon=path.epsilon, depth=path.depth, threads=path.jobs)
    least, curve = choose_lambda(whole, tuning)
    model = whole.cut(least)
    best = dict(curve)[least]
    return model, {"lambda": least, "size": int(model.sizes().sum()), "tuning": best, "curve": curve}


def train_words(
    training: Sequence[Pair], tuning: Sequence[Pair], letters: Sequence[str], path: PathOptions, say: Say
) -> WordModel:
    """Learn a model of word transduction."""
    if not training or not tuning:
        raise UsageError("expected sentence pairs to learn from and to tune on, found none")
    counts = count_links(training)
    rows = training_rows(training, counts)
    more = rows_like(tuning, counts, rows)
    say(f"{len(rows)} tokens of {len(rows.words)} source words, {sum(map(len, rows.translations))} classifiers")
    models: dict[str, BoostedModel] = {}
    records: dict[str, Any] = {}
    predictions = {}
    for name in letters:
        models[name], records[name] = learn_configuration(rows, more, name, path)
        predictions[name] = predict_boosted(models[name], more)
        record = records[name]
        say(
            f"{shown_configuration(name)}: lambda {record['lambda']:.4g}, {record['size']} parameters, "
            f"{record['tuning']:.2f} % right on the tuning text"
        )
    mixture = Mixture.of(more, predictions)
    own = len(mixture.words)
    say(f"mixture: {shown_configuration(mixture.best)}, another configuration for {own} word{'s' * (own != 1)}")
    how = {name: value for name, value in asdict(path).items() if name != "jobs"}
    trained = {"pairs": len(training), "tuning": len(tuning), "path": how, "configurations": records}
    return WordModel(models, mixture, tree_kind([*training, *tuning], letters), trained)


def tree_kind(pairs: Sequence[Pair], letters: Sequence[str]) -> str | None:
    """The kind of source trees that a model needs, None for none; different kinds are an error."""
    kinds = {pair.tree.kind for pair in pairs if pair.tree is not None}
    if not any(DEPENDENCY in name for name in letters):
        return None
    if len(kinds) != 1:
        raise UsageError(f"expected source trees of one kind, found {', '.join(sorted(kinds)) or 'none'}")
    return kinds.pop()


def weights_of(model: Mapping[str, float]) -> str:
    """The text of a weights file."""
    return "".join(f"{name} {value:g}\n" for name, value in model.items())
