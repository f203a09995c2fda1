"""The weights of rag_quality's reader (rag_quality.claims.reader); `folder()` tells where they are."""
from pathlib import Path

__version__ = "0.9.2"


def folder() -> Path:
    "The folder with model.onnx, tokenizer.json and reader.json."
    return Path(__file__).resolve().parent
