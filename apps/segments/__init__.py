"""The predictive cache for video segments, after WorldCache."""
