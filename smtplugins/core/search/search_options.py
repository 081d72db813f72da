"""The options of the native searches: ``SearchOptions(pop_limit=200)``. An unknown name is an error.

Importing this loads the native core, so it is imported where a search begins.
"""

from __future__ import annotations

from smtplugins.core._core import PhraseSearchOptions as PhraseSearchOptions
from smtplugins.core._core import SearchOptions as SearchOptions
