"""Translation as labels of source items, predicted by a policy that SEARN learns (Zhang, Sun and Li, 2008)."""

from __future__ import annotations

PAPER = "Zhang, Sun and Li (2008)"
