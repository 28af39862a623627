"""The parts that every operation shares: events, bodies, problem documents, preconditions, OpenAPI."""
