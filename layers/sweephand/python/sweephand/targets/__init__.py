"""What a job may name as its target: the types, what each takes, which addresses may be reached. Pure."""
