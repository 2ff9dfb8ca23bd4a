"""Embedders: sentences in, unit vectors out."""

from apps.answers.core.embedding.embedder import Embedder, EmbedderError, Vectors, unit
from apps.answers.core.embedding.minilm import MiniLM
from apps.answers.core.embedding.remembering import RememberingEmbedder
from apps.answers.core.embedding.remote import OpenAIEmbedder

__all__ = ["Embedder", "EmbedderError", "MiniLM", "OpenAIEmbedder", "RememberingEmbedder", "Vectors", "unit"]
