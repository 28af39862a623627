"""The capacity model: what a stack needs for so many triggers, and how late a herd is."""
