"""The programs that run beside the packages of a scheduler: its worker, and its client."""
