"""What is printed of a decoding beside its best translation: another choice, parts of its line, files of their own.

The search and what it keeps belong in the folder above.
"""
