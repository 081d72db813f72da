"""The learner `local-maxent`, its problems, and `smt localized train`."""

from __future__ import annotations
