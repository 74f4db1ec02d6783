"""Plan review from elsewhere: feedback objects in a folder or an S3 bucket, and the poller that takes them."""
