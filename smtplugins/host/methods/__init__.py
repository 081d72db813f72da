"""The methods of `Host`, a class per topic: typed parameters and their documentation.

What they do is in the rooms of the host; `Host` itself is `host/host.py`.
"""

from __future__ import annotations
