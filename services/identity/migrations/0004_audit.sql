-- Hash chain of changes: each hash covers the hash before it, see packages/domain/src/audit.ts.
create table audit_log (
  seq bigint primary key check (seq > 0),
  at timestamptz not null,
  subject text not null,
  issuer text not null,
  key_prefix text not null,
  request_id text not null,
  action text not null,
  object text not null,
  outcome text not null check (outcome in ('begun', 'done', 'denied', 'failed', 'unknown')),
  detail json not null,
  previous_hash bytea not null check (octet_length(previous_hash) = 32),
  hash bytea not null check (octet_length(hash) = 32)
);

create index audit_log_at on audit_log (at);
create index audit_log_subject on audit_log (subject, seq);
create index audit_log_action on audit_log (action text_pattern_ops, seq);
create index audit_log_object on audit_log (object, seq);

-- The newest entry. A writer locks this row until it commits, so numbers have no gaps.
create table audit_head (
  id boolean primary key default true check (id),
  seq bigint not null,
  hash bytea not null check (octet_length(hash) = 32)
);
insert into audit_head (seq, hash) values (0, decode(repeat('00', 32), 'hex'));

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is only appended to';
end $$;

create trigger append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();
create trigger kept before delete or truncate on audit_head
  for each statement execute function refuse_change();
create trigger forward before update on audit_head
  for each row when (new.seq <= old.seq) execute function refuse_change();
