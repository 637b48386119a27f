-- Salt from which the keys of secrets are derived. A database that an earlier release has used keeps
-- the fixed salt of that release for new values until `windlass secrets rotate-key` runs: replicas of
-- that release cannot decrypt under this one.
create table installation (
  id boolean primary key default true check (id),
  key_salt bytea not null
    default decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')
    check (octet_length(key_salt) = 32),
  uses_key_salt boolean not null
);
insert into installation (uses_key_salt)
  select not exists (select from secrets) and not exists (select from audit_log);
