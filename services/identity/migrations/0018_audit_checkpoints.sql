-- Keys that sign checkpoints of the audit chain. The private part is encrypted like a secret, so someone who can write these
-- tables cannot sign.
create table audit_keys (
  key_id text primary key check (key_id ~ '^[A-Za-z0-9_-]{43}$'),
  public_key text not null,
  encryption_key_id text not null,
  nonce bytea not null,
  ciphertext bytea not null,
  created_at timestamptz not null default clock_timestamp()
);

-- Signed checkpoints: number, hash and time of an entry are in the token. Those of pruned parts are kept.
create table audit_checkpoints (
  seq bigint not null,
  reason text not null check (reason in ('interval', 'prune')),
  key_id text not null references audit_keys,
  token text not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (seq, reason)
);

create function refuse_checkpoint_delete() returns trigger language plpgsql as $$
begin
  if old.reason = 'prune' or old.seq >= (select seq from audit_base) then
    raise exception 'checkpoints of the audit log are only appended to';
  end if;
  return old;
end $$;

create trigger append_only before update or truncate on audit_checkpoints
  for each statement execute function refuse_change();
create trigger covered_only before delete on audit_checkpoints
  for each row execute function refuse_checkpoint_delete();
create trigger kept before delete or truncate on audit_keys
  for each statement execute function refuse_change();

create or replace function check_audit_base() returns trigger language plpgsql as $$
begin
  if new.seq <= old.seq or not exists (
       select from audit_log
        where seq = new.seq and hash = new.hash and at < now() - audit_min_age()) then
    raise exception 'only entries of the audit log that are older than % can be pruned', audit_min_age();
  end if;
  if not exists (select from audit_checkpoints where seq = new.seq and reason = 'prune') then
    raise exception 'a pruned part of the audit log needs a signed checkpoint: prune with this release';
  end if;
  return new;
end $$;

-- Triggers run in the session of any client, whose search path may not contain this schema.
alter function check_audit_base() set search_path from current;
alter function refuse_checkpoint_delete() set search_path from current;
