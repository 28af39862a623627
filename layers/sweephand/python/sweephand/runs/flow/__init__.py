"""Which trigger of a job goes, waits or is skipped while another one runs. Pure."""
