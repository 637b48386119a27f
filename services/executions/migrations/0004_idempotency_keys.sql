-- Execution of each Idempotency-Key, until the key expires.
create table idempotency_keys (
  key_id       uuid primary key,
  execution_id uuid not null,
  expires_at   timestamptz not null
);
create index idempotency_keys_by_end on idempotency_keys (expires_at);
