"""Learn weights: gather training data, check it, run a learner once or in a loop around a decoder.

Learners are plugins; scores with intervals are in `judge`.
"""

from __future__ import annotations
