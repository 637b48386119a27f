alter table events add column part integer not null default 0;
-- Lets 0029_partitioned_log make this table a partition without reading it.
alter table events add constraint events_are_in_part_0 check (part = 0) not valid;
