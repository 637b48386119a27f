-- Worker tokens grant registration, so anonymous callers must not have left any.
drop trigger anonymous_change on audit_log;
create trigger anonymous_change after insert on audit_log for each row
  when (new.outcome = 'done' and new.action in (
    'key.create', 'key.revoke', 'principal.create', 'principal.update', 'principal.delete',
    'principal.grant_role', 'role.create', 'role.update', 'role.delete', 'worker_token.create'))
  execute function record_anonymous_change();

insert into anonymous_changes (object, actions, changed_at)
  select object, array_agg(distinct action), max(at) from audit_log
   where subject = 'anonymous' and issuer = 'svc' and key_prefix = '' and outcome = 'done'
     and action = 'worker_token.create'
   group by object
  on conflict do nothing;
