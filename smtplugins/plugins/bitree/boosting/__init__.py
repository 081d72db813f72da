"""The learner `l1-boost`: boosted trees under an l1 penalty, and the linear classifiers it is compared with."""

from __future__ import annotations
