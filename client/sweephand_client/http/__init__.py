"""One call of the API: its request, its repetitions, and its answer or its error."""
