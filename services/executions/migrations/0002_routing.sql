-- Values of the input that the routing policy names: an object of scalars by path.
alter table executions add column routing_inputs json;
