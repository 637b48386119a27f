-- What the routing policy of the workflow takes from the input: an object of scalars by path.
alter table executions add column routing_inputs json;
