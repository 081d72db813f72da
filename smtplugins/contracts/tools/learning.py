"""Building blocks of learners: problems as matrices, search tasks."""

from __future__ import annotations

from smtplugins.host.learn.problems import Matrix, checked_weights, forest_scales, matrix_of
from smtplugins.host.learn.search_tasks import Path, Weights, follow, ranked

__all__ = ["Matrix", "Path", "Weights", "checked_weights", "follow", "forest_scales", "matrix_of", "ranked"]
