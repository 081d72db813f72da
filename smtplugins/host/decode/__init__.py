"""From sentences to translations: parse them, run a decoder, write its translations, lists and forests.

Search algorithms are in `smtplugins.core.search`, decoders are plugins.
"""

from __future__ import annotations
