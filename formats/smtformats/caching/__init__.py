"""Columns of grammars and reordering tables kept on disk and mapped on the next use.

Formats that users' files are in do not belong here.
"""

from __future__ import annotations
