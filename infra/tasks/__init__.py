"""Twenty tasks of an operator, performed in the command line and in the console, and their steps counted."""
