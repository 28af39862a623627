"""SQS in memory."""
