"""Which trigger of a job is delivered, waits or is skipped while another trigger of the job runs."""
