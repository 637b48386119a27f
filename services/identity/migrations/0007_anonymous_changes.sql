-- Objects that grant rights and that a caller without credentials created or changed, while
-- authentication was off. A trigger records them, so changes through replicas of earlier releases count.
create table anonymous_changes (
  object text primary key,
  -- since the last decision
  actions text[] not null,
  changed_at timestamptz not null,
  decision text check (decision in ('confirmed', 'revoked')),
  decided_at timestamptz
);

create function record_anonymous_change() returns trigger language plpgsql as $$
begin
  if new.subject = 'anonymous' and new.issuer = 'svc' and new.key_prefix = ''
     and new.action not in ('key.revoke', 'principal.delete', 'role.delete') then
    insert into anonymous_changes as known (object, actions, changed_at)
    values (new.object, array[new.action], new.at)
    on conflict (object) do update
      set actions = case
            when known.decision is not null then excluded.actions
            when known.actions @> excluded.actions then known.actions
            else known.actions || excluded.actions end,
          changed_at = excluded.changed_at, decision = null, decided_at = null;
  elsif new.action in ('key.create', 'key.revoke', 'principal.create', 'principal.delete',
                       'role.create', 'role.delete') then
    delete from anonymous_changes where object = new.object;
  end if;
  return null;
end $$;

create trigger anonymous_change after insert on audit_log for each row
  when (new.outcome = 'done' and new.action in (
    'key.create', 'key.revoke', 'principal.create', 'principal.update', 'principal.delete',
    'principal.grant_role', 'role.create', 'role.update', 'role.delete'))
  execute function record_anonymous_change();

insert into anonymous_changes (object, actions, changed_at)
  select object, array_agg(distinct action), max(at) from audit_log
   where subject = 'anonymous' and issuer = 'svc' and key_prefix = '' and outcome = 'done'
     and action in ('key.create', 'principal.create', 'principal.update', 'principal.grant_role',
                    'role.create', 'role.update')
   group by object;
