"""Building blocks of learners: objectives with gradients, minimisers, upper envelopes."""

from __future__ import annotations
