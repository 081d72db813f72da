"""Find, import and register plugins; make what they offer, by name and with checked options.

What offers promise is in `smtplugins.contracts`.
"""

from __future__ import annotations
