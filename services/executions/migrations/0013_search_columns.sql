-- recorded as 0011_search_columns.sql
-- For searches and lists; null in rows from before, and in those that earlier releases write.
alter table executions
  -- First claim by a worker.
  add column started_at   timestamptz,
  -- Bytes of the stored texts.
  add column input_bytes  bigint,
  add column output_bytes bigint,
  -- First line of the error of a FAILED execution.
  add column error        text,
  -- Execution that started it by a nested run.
  add column if not exists parent_id uuid,
  -- Object of texts.
  add column tags         json;

-- The tags again, by value: written once, with the execution.
create table execution_tags (
  key          text not null,
  value        text not null,
  created_at   timestamptz not null,
  execution_id uuid not null references executions on delete cascade,
  primary key (key, value, created_at, execution_id)
);
create index execution_tags_of_execution on execution_tags (execution_id);

-- Text of the member at a path of a document; null where there is none, and in documents with
-- characters that the database cannot store as text.
create function text_at(document json, path text[]) returns text
  language plpgsql immutable parallel safe as $$
begin
  return document #>> path;
exception when others then
  return null;
end $$;
