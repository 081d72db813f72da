"""Forests, search graphs and lattices as users' files: read as lists of their derivations, written in any format.

Search and inference on forests are in core, decoding is in host/decode.
"""

from __future__ import annotations
