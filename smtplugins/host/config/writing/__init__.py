"""Write a run.yaml: a new one with every key, the keys' descriptions, their JSON schema, and what files are used for.

Reading one is in the folder above.
"""
