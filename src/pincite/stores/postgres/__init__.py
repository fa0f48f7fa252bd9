"""The team's store: PostgreSQL with pgvector. Many users and projects in one database."""
