CREATE TABLE depot (
  depot_no INTEGER PRIMARY KEY, -- depot number
  depot_name TEXT NOT NULL,
  tram_spaces INTEGER
);
CREATE TABLE tram_line (
  line_no INTEGER PRIMARY KEY, -- line number
  colour TEXT,
  depot_no INTEGER REFERENCES depot(depot_no), -- depot number
  length_km REAL, -- length in kilometres
  first_run INTEGER -- year of the first run
);
CREATE TABLE stop (
  stop_id INTEGER PRIMARY KEY,
  stop_name TEXT NOT NULL,
  zone INTEGER,
  has_shelter TEXT -- shelter
);
CREATE TABLE line_stop ( -- stop on a line
  line_no INTEGER REFERENCES tram_line(line_no), -- line number
  stop_id INTEGER REFERENCES stop(stop_id),
  position INTEGER,
  PRIMARY KEY (line_no, stop_id)
);
CREATE TABLE driver (
  driver_id INTEGER PRIMARY KEY,
  surname TEXT NOT NULL,
  depot_no INTEGER REFERENCES depot(depot_no), -- depot number
  hourly_wage REAL,
  licence_year INTEGER
);
INSERT INTO depot VALUES
 (1, 'Foundry Lane', 40),
 (2, 'Riverside', 26),
 (3, 'Hilltop', 12),
 (4, 'Old Brewery', 8);
INSERT INTO tram_line VALUES
 (1, 'red', 1, 14.2, 1923),
 (2, 'blue', 1, 9.8, 1931),
 (3, 'green', 2, 11.5, 1958),
 (4, 'yellow', 2, 6.1, 1987),
 (5, 'purple', 3, 17.9, 2004),
 (6, 'orange', 1, 4.4, 2016),
 (7, 'silver', NULL, 21.3, 2022);
INSERT INTO stop VALUES
 (1, 'Central Station', 1, 'yes'),
 (2, 'King''s Market', 1, 'yes'),
 (3, 'Foundry', 1, 'no'),
 (4, 'University', 1, 'yes'),
 (5, 'Botanic Garden', 2, 'no'),
 (6, 'Stadium', 2, 'yes'),
 (7, 'Hospital North', 2, 'yes'),
 (8, 'Weir Bridge', 2, 'no'),
 (9, 'Hilltop Village', 3, 'no'),
 (10, 'Airport', 4, 'yes'),
 (11, 'St. Jude''s', 1, 'no'),
 (12, 'Garden City', 3, 'yes'),
 (13, 'Old Quarry', 3, 'no'),
 (14, 'Ghost Halt', 4, 'no');
INSERT INTO line_stop VALUES
 (1, 1, 4), (1, 2, 3), (1, 3, 2), (1, 6, 5), (1, 13, 1),
 (2, 1, 2), (2, 4, 3), (2, 5, 4), (2, 11, 1),
 (3, 4, 1), (3, 7, 2), (3, 8, 3),
 (4, 2, 1), (4, 11, 2), (4, 8, 3),
 (5, 1, 1), (5, 7, 2), (5, 9, 4), (5, 12, 3),
 (6, 6, 1), (6, 5, 2),
 (7, 1, 1), (7, 6, 2), (7, 10, 3);
INSERT INTO driver VALUES
 (1, 'Achterberg', 1, 19.5, 2001),
 (2, 'Bello', 1, 17.2, 2014),
 (3, 'Czerny', 2, 18.0, 2009),
 (4, 'D''Souza', 3, 16.4, 2019),
 (5, 'Eriksen', 2, 21.1, 1994),
 (6, 'Faulkner', 1, 15.8, 2022),
 (7, 'Grewal', 3, 17.9, 2011),
 (8, 'Hsu', 1, 20.3, 1998),
 (9, 'Ivanova', 2, 16.0, 2020),
 (10, 'Jarvis', NULL, 15.8, 2023),
 (11, 'Kowalski', 1, 18.7, 2006);
