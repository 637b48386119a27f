-- Triggers run in the session of any client, whose search path may not contain this schema.
alter function record_anonymous_change() set search_path from current;
alter function check_audit_base() set search_path from current;
alter function refuse_unpruned_delete() set search_path from current;
