"""Performs twenty tasks of an operator in the command line and in the console, and counts their steps."""
