-- Partition of captured lines, as that of log entries (0027_event_part).
alter table captured_lines add column part integer not null default 0;
-- Lets 0032_partitioned_lines make this table a partition without reading it.
alter table captured_lines add constraint lines_are_in_part_0 check (part = 0) not valid;
