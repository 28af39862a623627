"""Who may call, and the secrets with which deliveries are signed. Pure."""
