"""Methods of the host that show and clear its caches: of loaded grammars, and of scores."""

from __future__ import annotations

import os
import pathlib
from typing import TYPE_CHECKING

from smtformats.caching.folders import OFF, cache_folder, clear, entries
from smtplugins.contracts.errors import UsageError
from smtplugins.host.arguments import argument

if TYPE_CHECKING:
    from smtformats.caching.folders import CacheEntry
    from smtplugins.host.files.opening import Path
    from smtplugins.host.scores.score_database import KeptScores


class Caches:
    """The caches' folders, what is in them, and their removal."""

    def cache_folder(self, cache: Path | None = None) -> pathlib.Path:
        """The folder of loaded grammars: ``cache``, or the default of :meth:`translator`."""
        folder = cache_folder(None if cache is None else os.fspath(cache))
        if folder is None:
            raise UsageError(f"the cache is switched off ($SMT_CACHE or {argument('cache')} is {OFF!r})")
        return folder

    def cached_grammars(self, cache: Path | None = None) -> list[CacheEntry]:
        """List the files of the cache of loaded grammars: path, size in bytes, source and format."""
        return entries(self.cache_folder(cache))

    def clear_cache(self, cache: Path | None = None) -> tuple[int, int]:
        """Remove all cached grammars; return the number of files and their size in bytes."""
        return clear(self.cache_folder(cache))

    def score_folder(self, score_cache: Path | None = None) -> pathlib.Path:
        """The folder of kept scores: ``score_cache``, or the default of :func:`load_plugins`."""
        from smtplugins.host.scores.score_cache import score_folder

        folder = score_folder(score_cache)
        if folder is None:
            name = argument("score_cache")
            raise UsageError(f"the cache of scores is switched off ($SMT_SCORE_CACHE or {name} is {OFF!r})")
        return folder

    def kept_scores(self, score_cache: Path | None = None) -> list[KeptScores]:
        """Count the scores of each command or model that are kept; a damaged file has no scorer."""
        from smtplugins.host.scores.score_database import kept_scores

        return kept_scores(self.score_folder(score_cache))

    def clear_scores(self, score_cache: Path | None = None) -> tuple[int, int]:
        """Remove all kept scores; return their number and the size of their files in bytes."""
        from smtplugins.host.scores.score_database import clear_scores

        return clear_scores(self.score_folder(score_cache))
