"""Scores of slow scorers: batches across lists, programs that answer them, and scores kept on disk.

What a feature or metric is, is not here; plugins reach this by ``contracts.tools.running``.
"""
