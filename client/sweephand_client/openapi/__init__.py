"""What the OpenAPI document says: the types of bodies, and the operations. `make client-types` writes it."""
