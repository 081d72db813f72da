"""The features (a) to (f) of blocks with orientations, alone and as `block-model`."""

from __future__ import annotations
