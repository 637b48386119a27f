-- Names of the namespaces that the worker may run; null: all.
alter table records add column namespaces json;
