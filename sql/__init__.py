"""Text only: migrations, roles and named statements. A package so that it ships with the rest."""
