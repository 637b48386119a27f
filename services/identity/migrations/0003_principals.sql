create table roles (
  name text primary key check (name ~ '^[A-Za-z0-9._-]{1,128}$'),
  permissions text[] not null check (cardinality(permissions) <= 1000),
  built_in boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

insert into roles (name, built_in, permissions) values
  ('admin', true, '{*}'),
  ('operator', true, array[
    'workflow:*:*:run', 'workflow:*:*:read', 'workflow:*:*:register',
    'workflow:*:*:task:*:execute', 'workflow:*:*:task:*:approve',
    'schedule:*', 'execution:*', 'agent:*:*', 'config:*:read', 'config:*:manage',
    'service:*:read', 'service:*:manage']),
  ('viewer', true, array[
    'workflow:*:*:read', 'execution:*:read', 'schedule:*:read',
    'agent:*:read', 'config:*:read', 'service:*:read']),
  ('worker', true, array['worker:*:*']);

create table principals (
  id uuid primary key,
  subject text not null check (char_length(subject) between 1 and 255),
  type text not null check (type in ('user', 'service_account')),
  external_issuer text not null check (char_length(external_issuer) between 1 and 255),
  display_name text check (char_length(display_name) <= 255),
  enabled boolean not null default true,
  metadata json not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (subject, external_issuer)
);

-- Deleting a role deletes its grants, so a later role of the same name has no holders.
create table principal_roles (
  principal_id uuid not null references principals on delete cascade,
  role_name text not null references roles on delete cascade,
  granted_by text not null,
  granted_at timestamptz not null default now(),
  primary key (principal_id, role_name)
);

create index principal_roles_role on principal_roles (role_name);

create table api_keys (
  prefix text primary key check (prefix ~ '^wk_[0-9a-f]{16}$'),
  token_hash bytea not null check (octet_length(token_hash) = 32),
  principal_id uuid not null references principals on delete cascade,
  name text not null check (name ~ '^[A-Za-z0-9._-]{1,128}$'),
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  unique (principal_id, name)
);
