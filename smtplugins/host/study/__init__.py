"""Make a paper's tables: steps done once in a folder, systems tuned and tested, our figures beside the paper's.

A plugin describes its paper here: rows, columns, the paper's figures. This room runs, resumes and prints.
"""

from __future__ import annotations
