-- First use of each key of the secrets, from which its age follows. For a key of an earlier release it is the change
-- of the oldest value under it.
create table encryption_keys (
  key_id        text primary key check (key_id ~ '^[0-9a-f]{16}$'),
  first_used_at timestamptz not null default now()
);
insert into encryption_keys select key_id, min(updated_at) from secrets group by key_id;
