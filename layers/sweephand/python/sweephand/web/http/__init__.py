"""What every operation shares: events, bodies, problem documents, preconditions, OpenAPI."""
