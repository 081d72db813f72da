"""What several grammar formats share. A format itself is a module of `smtformats.grammar`."""

from __future__ import annotations
