"""Discriminative reinforcement learning: the learner `drl`, samplers, updates."""

from __future__ import annotations
