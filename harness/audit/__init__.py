"""The source audit: questions that claims put to the candidate's Java, answered before any experiment."""
