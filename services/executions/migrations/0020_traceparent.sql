-- W3C trace context of the command that created the execution; null: it was not traced.
alter table executions add column traceparent text;
