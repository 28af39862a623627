"""What callers may write and what they are shown: the shapes of requests and responses."""
