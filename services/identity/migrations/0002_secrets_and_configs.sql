-- The name is authenticated with the value, so a row that is renamed or swapped cannot be read.
create table secrets (
  name text primary key check (char_length(name) between 1 and 255),
  key_id text not null check (key_id ~ '^[0-9a-f]{16}$'),
  nonce bytea not null check (octet_length(nonce) = 12),
  ciphertext bytea not null check (octet_length(ciphertext) between 17 and 65552),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table configs (
  name text primary key check (char_length(name) between 1 and 255),
  value_json json not null check (octet_length(value_json::text) <= 65536),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
