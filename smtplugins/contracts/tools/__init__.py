"""Host and core code that plugins may call, a module per topic. Re-exports only: no code lives here."""

from __future__ import annotations
