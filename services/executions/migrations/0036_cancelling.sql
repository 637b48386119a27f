-- each statement commits
-- Cancels are sent again each second; other deadlines are not read for them.
create index concurrently executions_cancelling on executions (deadline_at) where state = 'CANCELLING';
