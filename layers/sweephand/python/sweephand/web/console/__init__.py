"""The console: the files of a page for operators, and how they are served."""
