"""What a stack costs and how much it bears on AWS, from list prices, quotas, models and measured points."""
