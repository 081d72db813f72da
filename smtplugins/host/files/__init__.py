"""Open, describe, convert, join and write the users' files, through the formats of smtformats and of plugins.

Nothing here learns, decodes or judges.
"""

from __future__ import annotations
