-- An exception block cannot begin within a parallel plan, which PostgreSQL chooses for many rows: searches by payload
-- then failed. It does not choose one for a statement with an unsafe function.
alter function text_at(json, text[]) parallel unsafe;
