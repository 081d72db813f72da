"""Source trees and bitrees, heads, cohesion with links, and `smt bitree trees`."""

from __future__ import annotations
