"""C headers for the native parts of plugins."""

from __future__ import annotations

import os


def get_include() -> str:
    """The folder to give to a C compiler with ``-I``."""
    return os.path.dirname(os.path.abspath(__file__))
