"""Read run.yaml and the toolkits' configurations, and load the tables and features they name.

What is done with them is in `decode` and `learn`.
"""

from __future__ import annotations
