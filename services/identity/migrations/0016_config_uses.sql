-- Versions of workflows that read a config. Written at most once in some minutes for each row and replica.
create table config_uses (
  config            text not null references configs (name) on delete cascade,
  namespace         text not null,
  workflow          text not null,
  version           int not null,
  first_used_at     timestamptz not null,
  last_used_at      timestamptz not null,
  last_execution_id text not null,
  primary key (config, namespace, workflow, version)
);

create index config_uses_workflow on config_uses (namespace, workflow);
