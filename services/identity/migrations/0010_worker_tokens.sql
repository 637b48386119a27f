-- Tokens with which workers register, within restrictions. A revoked token is deleted.
create table worker_tokens (
  name text primary key check (name ~ '^[A-Za-z0-9._-]{1,128}$'),
  prefix text not null unique check (prefix ~ '^wt_[0-9a-f]{16}$'),
  token_hash bytea not null check (octet_length(token_hash) = 32),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  max_uses integer check (max_uses > 0),
  uses integer not null default 0,
  restrictions json not null check (octet_length(restrictions::text) <= 65536)
);

-- Name of the token that a worker registered with; null: another credential.
alter table worker_sessions add column worker_token text;
