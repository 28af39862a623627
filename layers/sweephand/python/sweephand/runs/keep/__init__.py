"""Keeping what waits while the stack is switched off, so that nothing that is owed expires."""
