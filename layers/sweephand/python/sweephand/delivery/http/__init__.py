"""How a trigger is handed to an HTTP endpoint: connections, requests, answers, the egress guard."""
