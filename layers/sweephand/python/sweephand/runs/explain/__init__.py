"""Why a job fired at an instant, or did not."""
