"""What training writes on the way: checkpoints, metrics, weight snapshots."""
