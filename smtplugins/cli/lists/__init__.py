"""Commands on n-best lists and forests: score, rescore, rerank, combine, judge, report.

A module holds one command: a parser and one call of the host. Commands that run a decoder are in `cli/systems`.
"""

from __future__ import annotations
