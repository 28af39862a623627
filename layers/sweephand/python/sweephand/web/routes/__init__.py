"""The operations of the API. Each module has a group of them."""
