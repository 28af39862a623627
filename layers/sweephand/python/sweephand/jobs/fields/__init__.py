"""The fields of a job. Each field has its shape, its bounds, its default, its rules and its meaning here."""
