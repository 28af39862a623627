"""DynamoDB in memory."""
