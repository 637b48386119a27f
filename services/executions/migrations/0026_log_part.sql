-- Partition of the log that new entries of an execution go to (0029_partitioned_log). 0: the one of the rows
-- from before, of those that earlier releases write, and of logs that are deleted row by row.
alter table executions add column log_part integer not null default 0;
