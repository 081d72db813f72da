"""Data structures and algorithms: thin Python wrappers of the native core."""
