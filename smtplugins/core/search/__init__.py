"""Search with stateful features: cube pruning over forests, phrase-based stacks, linear BLEU."""

from __future__ import annotations
