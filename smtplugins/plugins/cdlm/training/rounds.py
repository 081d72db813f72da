"""Training on confusion sets: alternate between making sets and minimum-risk training until the weights converge.

Z. Li, Z. Wang, S. Khudanpur and J. Eisner (2010), equations 5 and 6 and section 3.3.1. Minimum risk over the confusion
sets (Z. Li and J. Eisner, "First- and Second-Order Expectation Semirings", 2009) is the learner ``minrisk``, looked up
by name; the host's loop of decoding and learning makes the sets anew with the learnt weights and resumes killed runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.contracts.tools.running import prepared_folder
from smtplugins.plugins.cdlm.sets.confusing import BLM, TSRB, WORDS, WP, ConfusionSetting, read_text, write_words

if TYPE_CHECKING:
    from smtplugins.contracts.runners import Jobs
    from smtplugins.contracts.tools.running import Host
    from smtplugins.contracts.tools.tuning import Ended

LEARNER = "minrisk,temperature=0,quenches=0,gain_precision=0.85,gain_decay=0.7"
"""The defaults of the authors' code: no annealing, and the published linear gains."""
RUN = "run"


@dataclass(frozen=True)
class Training:
    """Training data and options.

    ``text`` holds the sentences; they and their ``paraphrases`` are the references. Each iteration learns from the
    sets of the last ``rounds`` iterations, 0 for all; the paper uses the last. ``select`` chooses the resulting
    weights: those with the ``best`` metric score on the sets of the text, or the ``last``. ``keep`` names features
    with fixed weights, such as ``blm``.
    """

    setting: ConfusionSetting
    text: Path
    paraphrases: tuple[Path, ...] = ()
    learner: Spec = field(default_factory=lambda: Spec.parse(LEARNER))
    iterations: int = 5
    epsilon: float = 1e-5
    rounds: int = 1
    select: Literal["best", "last"] = "best"
    keep: tuple[str, ...] = ()
    seed: int = 1


def train(
    host: Host,
    training: Training,
    folder: Path,
    *,
    start: Mapping[str, float] | None = None,
    resume: bool = False,
    jobs: Jobs = None,
    command: Sequence[str] = (),
    cache: str | None = None,
    quiet: bool = True,
    told: Callable[[str], None] = lambda text: None,
    note: Callable[[str], None] = lambda text: None,
) -> Ended:
    """Train in ``folder``, which holds everything needed to resume; results are the same for any number of jobs."""
    from smtplugins.contracts.tools.tuning import LoopPlan, plan_of, tune_decoder

    setting = training.setting
    if training.learner.name not in host.registry.names("learners"):
        raise UsageError(f"training needs learner:{training.learner.name}, but there is no such learner")
    fixed = setting.fixed(host, cache)
    keep = sorted({*fixed, *training.keep})
    plan = plan_of(host, training.learner, keep, seed=training.seed, jobs=jobs)
    loop = LoopPlan(
        plan,
        iterations=training.iterations,
        epsilon=training.epsilon,
        select=training.select,
        forests=True,
        rounds=training.rounds,
        folds=0,
    )
    given = setting.weights(host, start, cache)
    sentences = read_text(host, training.text)
    for path in training.paraphrases:
        count = len(read_text(host, path))
        if count != len(sentences):
            raise SmtError(f"{path}: expected {len(sentences)} lines as in {training.text}, found {count}")
    with prepared_folder(folder, RUN):
        write_words(folder / WORDS, sentences, setting.unknown)
        config = setting.config(host, folder / WORDS, training.text, (training.text, *training.paraphrases))
        return tune_decoder(
            host,
            config,
            loop,
            folder / RUN,
            start=given,
            resume=resume,
            command=command,
            cache=cache,
            quiet=quiet,
            told=told,
            note=note,
        )


def lm_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the language model's weights, without those of the confusion grammar."""
    return {name: value for name, value in sorted(weights.items()) if name in (BLM, WP) or name.startswith(f"{TSRB}:")}


def save(training: Training, ended: Ended, folder: Path) -> None:
    """Save the model of a finished training into a folder: weights, class map and a description of the training."""
    from smtplugins.plugins.cdlm.features.classes import read_classes
    from smtplugins.plugins.cdlm.features.model import save_model

    classes = training.setting.classes
    about = {
        "learner": str(training.learner),
        "metric": ended.metric,
        "score": ended.score,
        "signature": ended.signature,
        "stopped": ended.reason,
        "references": 1 + len(training.paraphrases),
    }
    save_model(folder, lm_weights(ended.weights), None if classes is None else read_classes(classes), about)
