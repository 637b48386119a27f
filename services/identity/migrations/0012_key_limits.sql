-- recorded as 0010_key_limits.sql
-- null: the key has all permissions of its account, and is accepted from any address.
alter table api_keys
  add column permissions text[] check (cardinality(permissions) between 1 and 100),
  add column networks text[] check (cardinality(networks) between 1 and 20);
