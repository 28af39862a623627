"""Who may call the API, and the secrets with which deliveries are signed. Pure."""
