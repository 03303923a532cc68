"""Publishing on the Hugging Face Hub: the dataset, models with their scores, the metric, the leaderboard.

Each artefact is first written as a folder that can be looked at, checked there, and then uploaded.
"""
