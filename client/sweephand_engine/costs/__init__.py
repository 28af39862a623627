"""What a stack costs and how late it delivers: prices and quotas of AWS, measured points, and models."""
