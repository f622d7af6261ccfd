"""What a config may say: a closed pydantic model for each block, with a sentence, a range and defaults by recipe for
each setting.

Nothing here imports the code that uses the settings: a setting is declared here and read there.
"""
