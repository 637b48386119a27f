-- each statement commits
-- Nested runs of one parent in the order of a list: a page of many is read without the others, and counted from the index alone.
create index concurrently executions_of_parent on executions (parent_id, created_at, execution_id)
  where parent_id is not null;
drop index concurrently executions_children;
