"""What metrics compute without a database."""
