-- Nested runs above the execution; 0 for an outermost one, and for rows from before.
alter table executions add column depth integer not null default 0;
