"""Workers: single files that import a large library in the user's own Python, where ``serve.py`` runs them.

A worker defines ``load(**options)``, which returns a function from items to a score, or a list of numbers, for each. An
item has ``source``, ``hyp`` and, for metrics, ``refs``. Nothing in this folder imports the package.
"""

from __future__ import annotations
