"""A module per command: ``SUMMARY``, ``HELP``, ``SYNTAX``; ``run(words, io)``, which raises
VariablesError.
"""
