-- each statement commits
-- Reads the table, but excludes neither readers nor writers.
alter table captured_lines validate constraint lines_are_in_part_0;
