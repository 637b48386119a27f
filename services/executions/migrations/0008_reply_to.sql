-- Sender that is signalled when the execution settles; null: none waits, and for rows from before.
alter table executions add column reply_to text;
