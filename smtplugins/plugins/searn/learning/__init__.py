"""SEARN: the learner, its policies and base learners, and `smt searn train`."""

from __future__ import annotations
