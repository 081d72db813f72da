"""Make a paper's tables: steps done once, systems tuned and tested, rows beside the paper's.

Which rows there are is said by the plugin of the paper.
"""

from __future__ import annotations
