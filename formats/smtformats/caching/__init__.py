"""A cache of grammars and reordering tables: their columns on disk, memory-mapped on the next use.

Formats of users' files do not belong here.
"""

from __future__ import annotations
