"""Boosted regularised trees and translation with them (Wellington, Turian and Melamed, 2009)."""

from __future__ import annotations

PAPER = "Wellington, Turian and Melamed (2009)"
