"""The method of the host that builds a system from text."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from smtplugins.host.arguments import listed

if TYPE_CHECKING:
    from smtplugins.contracts.runners import Jobs
    from smtplugins.host.files.opening import Path
    from smtplugins.host.host import AnySpec, Host
    from smtplugins.host.train.training import TrainedSystem

Note = Callable[[str], None]


class Building:
    """Build systems."""

    def train(
        self,
        source: Path,
        target: Path,
        dev: Sequence[Path],
        folder: Path,
        *,
        model: AnySpec = "phrase",
        test: Sequence[Path] = (),
        lm_text: Path | Sequence[Path] = (),
        tokenize: str | None = None,
        case: str | None = None,
        languages: Sequence[str] = (),
        max_length: int | None = None,
        max_ratio: float | None = None,
        keep_duplicates: bool | None = None,
        align: str | None = None,
        order: int = 5,
        metric: AnySpec = "bleu",
        learner: AnySpec | None = None,
        iterations: int | None = None,
        memory: int | None = None,
        seed: int = 1,
        jobs: Jobs = None,
        resume: bool = False,
        dry: bool = False,
        plugins: Sequence[str] = (),
        quiet: bool = True,
    ) -> TrainedSystem:
        """Build a system from a text and its translation into a folder, whose ``run.yaml`` decodes with it.

        ``dev`` and ``test`` are a source file and its references: weights are learnt from the first, both are
        translated and judged by ``metric``. ``model`` is a recipe with options (``smt recipes`` lists them).
        ``lm_text``: further text of the target language. From ``tokenize`` to ``keep_duplicates``, arguments are those
        of :meth:`prepare`; ``align`` is the model of :meth:`align`, ``order`` that of the language model; ``learner``
        and ``iterations`` are those of :meth:`tune_decoder`. ``memory``: bytes beyond which to sort on disk. Each step
        is a command in a process of its own with ``jobs``, loads ``plugins`` (files or modules), and is not repeated
        with ``resume``; a killed call goes on to the same bytes. ``dry``: run none.
        """
        from smtplugins.contracts.recipes import Ingredients
        from smtplugins.contracts.spec import Spec
        from smtplugins.host.estimate.prepare import PrepareSettings
        from smtplugins.host.train.plan import TextPair, TrainPlan, whole_path
        from smtplugins.host.train.training import train

        limits = max_length, max_ratio, keep_duplicates
        plan = TrainPlan(
            model=str(Spec.of(model)),
            train=TextPair.of("target", [source, target]),
            dev=TextPair.of("dev", dev),
            test=TextPair.of("test", test) if test else None,
            monolingual=tuple(map(whole_path, listed(lm_text))),
            preparation=PrepareSettings(None, False, tokenize, case, tuple(languages), *limits),
            metric=str(Spec.of(metric)),
            learner=None if learner is None else str(Spec.of(learner)),
            iterations=iterations,
            ingredients=Ingredients(aligner=align, order=order, seed=seed, memory=memory),
        )
        place = pathlib.Path(folder)
        return train(cast("Host", self), plan, place, resume=resume, dry=dry, plugins=plugins, jobs=jobs, quiet=quiet)
