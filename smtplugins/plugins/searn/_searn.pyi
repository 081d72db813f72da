"""
Kernels of labels, policies and their decoder. Use the Python modules around it.
"""
