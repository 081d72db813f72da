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
    read_config,
    tune_system,
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
    "read_config",
    "render_tables",
    "score_columns",
    "tune_system",
]
