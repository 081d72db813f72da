"""Commands that build, tune and run systems: `align`, `extract`, `lm`, `tune`, `decode`.

A module holds one command: a parser and one call of the host. Commands on n-best lists are in `cli/lists`.
"""

from __future__ import annotations
