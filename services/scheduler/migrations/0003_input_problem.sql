-- reason why the latest version of the workflow refuses the input, if it does
alter table schedules add column input_problem text;
