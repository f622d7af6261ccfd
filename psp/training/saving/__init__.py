"""What training writes as it goes: checkpoints, metrics, weight snapshots."""
