"""Search with stateful features: cube pruning of forests, stacks of phrase hypotheses, linear BLEU."""

from __future__ import annotations
