"""The HTTPS API: models, problem documents, routes, OpenAPI."""
