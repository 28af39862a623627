"""The only DynamoDB and S3: models and conditional writes, behind ports."""
