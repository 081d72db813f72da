"""What several n-best formats share. A format itself is a module of `smtformats.nbest`."""

from __future__ import annotations
