"""Pools: the candidates of several systems as one list per sentence, and how often each system is chosen.

Files are opened and joined in `host/files`, scores are made in `host/judge`.
"""

from __future__ import annotations
