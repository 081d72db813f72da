"""Systems built from text by one command: the plan of steps, and the folder in which they are run.

How a kind of model is built says its recipe, which is a plugin's; single steps are commands of their own.
"""
