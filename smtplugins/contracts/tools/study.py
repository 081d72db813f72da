"""Tables of a paper: resumable steps, systems tuned and tested, the paper's figures beside ours."""

from __future__ import annotations

from smtplugins.host.study.options import (
    add_loop,
    add_metric,
    add_printing,
    add_renamed,
    add_study,
    add_texts,
    add_tuning,
    check_least,
    choose,
    file,
    tuning_plan,
)
from smtplugins.host.study.study import Study
from smtplugins.host.study.study_tables import (
    CHANGE,
    SCORE,
    Form,
    P,
    StudyColumn,
    StudyTable,
    paper_column,
    render_tables,
    score_columns,
)
from smtplugins.host.study.tuned_systems import (
    StudySystem,
    TuningPlan,
    judge_rows,
    read_references,
    refuse_runner,
    signature_of,
    tune_system,
    tuned_rows,
)

__all__ = [
    "CHANGE",
    "SCORE",
    "Form",
    "P",
    "Study",
    "StudyColumn",
    "StudySystem",
    "StudyTable",
    "TuningPlan",
    "add_loop",
    "add_metric",
    "add_printing",
    "add_renamed",
    "add_study",
    "add_texts",
    "add_tuning",
    "check_least",
    "choose",
    "file",
    "judge_rows",
    "paper_column",
    "read_references",
    "refuse_runner",
    "render_tables",
    "score_columns",
    "signature_of",
    "tune_system",
    "tuned_rows",
    "tuning_plan",
]
