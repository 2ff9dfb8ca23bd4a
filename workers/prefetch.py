"""The door of segments: ingest one video."""
