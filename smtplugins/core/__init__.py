"""Data structures and kernels: thin Python faces over the native core."""
