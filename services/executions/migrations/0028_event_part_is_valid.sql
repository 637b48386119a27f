-- each statement commits
-- Reads the table, but excludes neither readers nor writers.
alter table events validate constraint events_are_in_part_0;
