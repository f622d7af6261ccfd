"""Reports: tables and figures from the JSON files of the other stages."""
