-- The latest lines of one house, and its oldest, are asked for. Within a house an index of SQLite is in the order of the
-- table's key, which is the id; a line costs half a microsecond more.
CREATE INDEX reservation_history_house ON reservation_history (house_id);
