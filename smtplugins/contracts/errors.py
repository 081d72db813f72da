"""Exceptions that are printed as messages: raise them for errors that a user can correct."""

from __future__ import annotations


class SmtError(Exception):
    """A failure with a message for the user: bad data or a failed run. Exit code 1."""

    exit_code = 1


class UsageError(SmtError):
    """A wrong call: an unknown name, option or combination. Exit code 2."""

    exit_code = 2


class PluginError(UsageError):
    """A plugin that cannot be used as requested."""


class SentenceError(SmtError):
    """A sentence that cannot be translated as asked; the others are, and the run fails at its end."""


class FeatureError(SmtError):
    """A feature that failed on a list or sentence."""
