"""The schedulers that are measured."""
