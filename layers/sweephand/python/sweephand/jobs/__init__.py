"""Jobs: what a user stores, whether a trigger of one is alive, and the use cases that write one. Pure."""
