"""The only outbound traffic: queues, HTTP, signing, the egress guard, one module per target type."""
