"""The methods of `Host`, a class per topic: typed parameters and their documentation.

They call the rooms of the host, which do the work; `Host` itself is `host/host.py`.
"""

from __future__ import annotations
