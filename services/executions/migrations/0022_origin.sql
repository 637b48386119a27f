-- Execution that this one repeats or was forked from, and the last entry of its log that a fork may begin
-- with. No foreign key: retention may delete the origin.
alter table executions
  add column origin_id  uuid,
  add column origin_seq bigint;
