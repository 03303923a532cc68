CREATE TABLE presenter (
  presenter_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  home_town TEXT,
  joined_year INTEGER, -- year joined
  is_volunteer BOOLEAN -- volunteer
);
CREATE TABLE programme (
  programme_id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  genre TEXT,
  presenter_id INTEGER REFERENCES presenter(presenter_id),
  weekday TEXT,
  length_minutes INTEGER -- length in minutes
);
CREATE TABLE broadcast (
  broadcast_id INTEGER PRIMARY KEY,
  programme_id INTEGER REFERENCES programme(programme_id),
  air_date DATE,
  listeners INTEGER, -- number of listeners
  was_live BOOLEAN -- live
);
CREATE TABLE song_play (
  play_id INTEGER PRIMARY KEY,
  broadcast_id INTEGER REFERENCES broadcast(broadcast_id),
  song TEXT,
  artist TEXT,
  requested_by TEXT -- listener who requested it
);
INSERT INTO presenter VALUES
 (1, 'Molly Braithwaite', 'Ashcombe', 2009, 1),
 (2, 'DJ Rook', 'Penfold', 2016, 1),
 (3, 'Hassan Amiri', 'Ashcombe', 2012, 0),
 (4, 'Clara Nyström', 'Little Wick', 2018, 1),
 (5, 'Bert O''Shea', 'Penfold', 1997, 0),
 (6, 'Tasha Greene', 'Ashcombe', 2021, 1),
 (7, 'Ewan Laird', 'Crosby Mill', 2014, 1),
 (8, 'Sunita Rao', 'Little Wick', 2003, 0),
 (9, 'Felix Brandt', 'Crosby Mill', 2022, 1),
 (10, 'Nell Hartigan', 'Penfold', 2019, 1);
INSERT INTO programme VALUES
 (1, 'Morning Kettle', 'talk', 1, 'Monday', 120),
 (2, 'Basement Beats', 'electronic', 2, 'Friday', 90),
 (3, 'Sitar & Strings', 'world', 8, 'Sunday', 60),
 (4, 'The Jazz Larder', 'jazz', 5, 'Thursday', 75),
 (5, 'Town Hall Tonight', 'talk', 3, 'Wednesday', 45),
 (6, 'Northern Lights', 'folk', 4, 'Tuesday', 60),
 (7, 'Rook''s Nest', 'electronic', 2, 'Saturday', 150),
 (8, 'Allotment Hour', 'talk', 7, 'Saturday', 60),
 (9, 'Sleepy Sunday', 'classical', 8, 'Sunday', 180),
 (10, 'Fiddlers'' Corner', 'folk', 7, 'Wednesday', 50),
 (11, 'New Noise', 'rock', 6, 'Friday', 105),
 (12, 'Late Blue', 'jazz', 5, 'Saturday', 80);
INSERT INTO broadcast VALUES
 (1, 1, '2024-01-08', 1340, 1),
 (2, 1, '2024-01-15', 1275, 1),
 (3, 1, '2024-01-22', 1402, 1),
 (4, 2, '2024-01-12', 410, 1),
 (5, 2, '2024-01-19', 388, 0),
 (6, 3, '2024-01-14', 295, 0),
 (7, 4, '2024-01-11', 622, 1),
 (8, 4, '2024-01-18', 671, 1),
 (9, 5, '2024-01-10', 905, 1),
 (10, 5, '2024-02-07', 1118, 1),
 (11, 6, '2024-01-16', 334, 0),
 (12, 7, '2024-01-13', 540, 1),
 (13, 7, '2024-02-10', 587, 1),
 (14, 8, '2024-01-20', 760, 0),
 (15, 9, '2024-01-21', 812, 0),
 (16, 10, '2024-02-14', 276, 1),
 (17, 11, '2024-02-16', 463, 1),
 (18, 12, '2024-02-17', 505, 0),
 (19, 12, '2024-02-24', NULL, 0);
INSERT INTO song_play VALUES
 (1, 4, 'Concrete Garden', 'Hexa', NULL),
 (2, 4, 'Night Bus', 'Polar Kid', 'Jen from Penfold'),
 (3, 5, 'Concrete Garden', 'Hexa', NULL),
 (4, 6, 'Rain on the Ghats', 'Meera Sen', NULL),
 (5, 7, 'Bluebird Walk', 'Otis Crane Trio', 'Mr. Pym'),
 (6, 7, 'Half Past Gin', 'The Velvet Spoons', NULL),
 (7, 8, 'Bluebird Walk', 'Otis Crane Trio', NULL),
 (8, 11, 'The Herring Girl', 'Isla Dunne', 'Aunt Peg'),
 (9, 12, 'Night Bus', 'Polar Kid', NULL),
 (10, 12, 'Static Love', 'Hexa', 'Dev'),
 (11, 13, 'Ten Thousand Volts', 'Polar Kid', NULL),
 (12, 15, 'Evensong', 'Ashcombe Choir', NULL),
 (13, 16, 'The Herring Girl', 'Isla Dunne', NULL),
 (14, 16, 'Miller''s Reel', 'Bow & Barrel', 'Mr. Pym'),
 (15, 17, 'Don''t Wake the Dog', 'Kitchen Riot', 'Dev'),
 (16, 17, 'Static Love', 'Hexa', NULL),
 (17, 18, 'Half Past Gin', 'The Velvet Spoons', 'Mr. Pym'),
 (18, 18, 'Smoke Signals', 'Otis Crane Trio', NULL),
 (19, 1, 'Sunny Side Up', 'Kitchen Riot', NULL);
