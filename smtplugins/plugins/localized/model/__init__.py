"""The features (a) to (f) of blocks with orientation, separately and as `block-model`."""

from __future__ import annotations
