"""The notations of a schedule, a module for each, and the choice between them. Pure."""
