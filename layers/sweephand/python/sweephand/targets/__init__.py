"""The target types: fields, rules and bounds of each, and which addresses and queues may be reached."""
