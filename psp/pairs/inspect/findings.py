def find(report): return []
