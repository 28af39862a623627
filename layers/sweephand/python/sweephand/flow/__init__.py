"""Flow control: gates admit what the limits of policies permit, and functions serve their lines."""
