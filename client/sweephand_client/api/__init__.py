"""The calls of the API as methods with types.

They are written by hand. A generated client has no iterators, and does not know what may be sent twice.
"""
