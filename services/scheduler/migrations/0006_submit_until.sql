-- The execution may still be created until then, by an attempt without an answer; null: no attempt has asked for it,
-- or a replica of an earlier release did.
alter table schedule_ticks add column submit_until timestamptz;
