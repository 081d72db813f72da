"""Checks of decoders and search tasks, and tiny systems whose derivations can all be enumerated.

`any_decoder` holds for every decoder. Real models do not belong here.
"""

from __future__ import annotations
