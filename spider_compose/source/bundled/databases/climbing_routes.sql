CREATE TABLE crag (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  rock TEXT, -- rock type
  region TEXT,
  walk_in_minutes INTEGER
);
CREATE TABLE climb (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  crag_id INTEGER REFERENCES crag(id),
  grade INTEGER,
  height_m REAL, -- height in metres
  bolts INTEGER, -- number of bolts
  style TEXT
);
CREATE TABLE climber (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  club TEXT,
  birth_year INTEGER
);
CREATE TABLE ascent (
  id INTEGER PRIMARY KEY,
  climb_id INTEGER REFERENCES climb(id),
  climber_id INTEGER REFERENCES climber(id),
  climbed_on DATE, -- date
  attempts INTEGER, -- number of attempts
  stars INTEGER
);
INSERT INTO crag VALUES
 (1, 'Raven Scar', 'gritstone', 'North Dale', 15),
 (2, 'Pigeon Towers', 'limestone', 'White Coast', 40),
 (3, 'The Anvil', 'granite', 'Hollow Fells', 75),
 (4, 'Quarry No. 9', 'slate', 'North Dale', 5),
 (5, 'Sunset Wall', 'limestone', 'White Coast', 10),
 (6, 'Giant''s Knee', 'granite', 'Hollow Fells', 90),
 (7, 'Dove Hole', 'gritstone', 'Millshire', 25),
 (8, 'Penny Rocks', 'sandstone', 'Millshire', 8),
 (9, 'Slate Mirror', 'slate', 'Hollow Fells', 55);
INSERT INTO climb VALUES
 (1, 'Black Feather', 1, 18, 14.0, 0, 'trad'),
 (2, 'Widow''s Walk', 1, 22, 17.5, 0, 'trad'),
 (3, 'Salt Lick', 2, 24, 28.0, 11, 'sport'),
 (4, 'Coo', 2, 15, 22.0, 8, 'sport'),
 (5, 'Hammerfall', 3, 26, 45.0, 3, 'trad'),
 (6, 'Blacksmith', 3, 20, 38.5, 0, 'trad'),
 (7, 'Paper Cut', 4, 23, 19.0, 9, 'sport'),
 (8, 'Dynamite Stairs', 4, 17, 12.0, 5, 'sport'),
 (9, 'Golden Hour', 5, 21, 25.0, 10, 'sport'),
 (10, 'Last Light', 5, 27, 31.0, 14, 'sport'),
 (11, 'Fee-Fi', 6, 19, 60.0, 0, 'trad'),
 (12, 'Beanstalk', 6, 25, 82.5, 2, 'trad'),
 (13, 'Olive Branch', 7, 16, 9.5, 0, 'trad'),
 (14, 'Squab', 7, 28, 7.0, 0, 'boulder'),
 (15, 'Tuppence', 8, 20, 5.0, 0, 'boulder'),
 (16, 'Bad Penny', 8, 24, 4.5, 0, 'boulder'),
 (17, 'Evening Class', 5, 14, 18.0, 7, 'sport'),
 (18, 'Warm-Up', 4, 12, 8.5, 3, 'sport');
INSERT INTO climber VALUES
 (1, 'Jo Ashdown', 'Dale Climbers', 1991),
 (2, 'Matteo Ricci', 'Coast Crew', 1986),
 (3, 'Hana Suzuki', 'Coast Crew', 1999),
 (4, 'Gwen Pritchard', 'Dale Climbers', 1978),
 (5, 'Alex Novak', NULL, 2002),
 (6, 'Sam O''Leary', 'Fell Rats', 1983),
 (7, 'Ravi Menon', 'Fell Rats', 1995),
 (8, 'Lotte Visser', 'Dale Climbers', 2004),
 (9, 'Carl Hedges', 'Fell Rats', 1969);
INSERT INTO ascent VALUES
 (1, 1, 1, '2022-04-10', 1, 3),
 (2, 1, 4, '2022-04-10', 2, 4),
 (3, 2, 1, '2022-05-07', 4, 5),
 (4, 3, 2, '2022-05-21', 3, 4),
 (5, 3, 3, '2022-06-02', 6, 5),
 (6, 4, 3, '2022-06-02', 1, 2),
 (7, 5, 6, '2022-07-15', 8, 5),
 (8, 6, 7, '2022-07-16', 2, 3),
 (9, 7, 5, '2022-08-20', 5, 3),
 (10, 9, 2, '2022-09-03', 1, 4),
 (11, 9, 8, '2022-09-11', 2, 5),
 (12, 10, 3, '2023-03-26', 14, 5),
 (13, 11, 6, '2023-05-13', 1, 4),
 (14, 12, 7, '2023-06-24', 9, 5),
 (15, 13, 4, '2023-07-01', 1, 2),
 (16, 14, 5, '2023-07-22', 30, 4),
 (17, 15, 8, '2023-08-05', 3, 1),
 (18, 2, 6, '2023-08-19', 2, 4),
 (19, 8, 1, '2023-09-09', 1, 1),
 (20, 6, 6, '2023-09-17', 1, NULL);
