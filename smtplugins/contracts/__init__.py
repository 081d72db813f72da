"""The public surface for plugin authors: contracts, offers, hooks and options.

A plugin imports from here, `smtplugins`, `smtplugins.testing` and `smtformats`. Nothing here runs a job.
"""

from __future__ import annotations
