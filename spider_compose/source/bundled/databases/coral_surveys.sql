CREATE TABLE reef (
  reef_id INTEGER PRIMARY KEY,
  reef_name TEXT NOT NULL,
  atoll TEXT,
  max_depth REAL, -- maximum depth
  is_protected TEXT -- protected
);
CREATE TABLE diver (
  diver_id INTEGER PRIMARY KEY,
  diver_name TEXT NOT NULL,
  certification TEXT,
  logged_dives INTEGER -- number of logged dives
);
CREATE TABLE survey (
  survey_id INTEGER PRIMARY KEY,
  reef_id INTEGER REFERENCES reef(reef_id),
  diver_id INTEGER REFERENCES diver(diver_id),
  survey_date DATE,
  water_temp REAL, -- water temperature
  coral_cover REAL, -- percentage of coral cover
  visibility_m INTEGER -- visibility in metres
);
CREATE TABLE sighting (
  sighting_id INTEGER PRIMARY KEY,
  survey_id INTEGER REFERENCES survey(survey_id),
  animal TEXT,
  animal_group TEXT,
  quantity INTEGER
);
INSERT INTO reef VALUES
 (1, 'Lantern Reef', 'Maru', 22.0, 'yes'),
 (2, 'Broken Crown', 'Maru', 35.5, 'no'),
 (3, 'Nurse''s Garden', 'Hali', 14.0, 'yes'),
 (4, 'The Pillars', 'Hali', 41.0, 'yes'),
 (5, 'Shark Alley', 'Tevua', 29.0, 'no'),
 (6, 'Little Venice', 'Tevua', 9.5, 'no'),
 (7, 'Moonpool', 'Oneroa', 18.2, 'yes'),
 (8, 'Cathedral', 'Oneroa', 52.0, 'no'),
 (9, 'Stingray Flats', 'Hali', 6.0, 'no');
INSERT INTO diver VALUES
 (1, 'Tane Mahuta', 'divemaster', 1240),
 (2, 'Elise Fontaine', 'advanced', 310),
 (3, 'Rob Castle', 'open water', 58),
 (4, 'Yumi Sato', 'instructor', 2105),
 (5, 'Ines d''Almeida', 'advanced', 274),
 (6, 'Vikram Joshi', 'rescue', 455),
 (7, 'Polly Marsh', 'open water', 41),
 (8, 'Hone Parata', 'instructor', 1780),
 (9, 'Marek Zelen', 'advanced', 512);
INSERT INTO survey VALUES
 (1, 1, 1, '2021-03-14', 27.4, 48.0, 20),
 (2, 1, 2, '2022-03-20', 28.9, 41.5, 18),
 (3, 1, 1, '2023-03-18', 29.8, 33.0, 22),
 (4, 2, 4, '2021-04-02', 27.1, 36.2, 25),
 (5, 2, 4, '2023-04-08', 28.6, 30.4, 15),
 (6, 3, 3, '2021-06-11', 26.5, 61.0, 12),
 (7, 3, 5, '2022-06-19', 27.0, 60.2, 14),
 (8, 4, 4, '2022-07-07', 25.8, 55.5, 30),
 (9, 4, 8, '2023-07-15', 26.3, 57.1, 28),
 (10, 5, 6, '2021-09-25', 28.2, 22.8, 16),
 (11, 5, 6, '2022-09-30', 29.3, 18.4, 11),
 (12, 6, 3, '2022-10-12', 29.9, 12.0, 8),
 (13, 7, 2, '2021-11-05', 27.7, 66.4, 19),
 (14, 7, 5, '2023-11-21', 28.0, 68.9, 21),
 (15, 8, 8, '2023-12-03', 24.9, 44.3, 33),
 (16, 6, 1, '2023-10-20', 30.2, NULL, 7),
 (17, 2, 9, '2021-05-05', 27.2, 35.0, 24);
INSERT INTO sighting VALUES
 (1, 1, 'hawksbill turtle', 'reptile', 2),
 (2, 1, 'parrotfish', 'fish', 45),
 (3, 2, 'parrotfish', 'fish', 31),
 (4, 3, 'crown-of-thorns', 'starfish', 12),
 (5, 3, 'parrotfish', 'fish', 19),
 (6, 4, 'grey reef shark', 'fish', 4),
 (7, 5, 'giant clam', 'mollusc', 3),
 (8, 6, 'blue starfish', 'starfish', 8),
 (9, 6, 'clownfish', 'fish', 27),
 (10, 7, 'clownfish', 'fish', 33),
 (11, 7, 'hawksbill turtle', 'reptile', 1),
 (12, 8, 'manta ray', 'fish', 2),
 (13, 9, 'manta ray', 'fish', 5),
 (14, 9, 'giant clam', 'mollusc', 6),
 (15, 10, 'grey reef shark', 'fish', 14),
 (16, 11, 'grey reef shark', 'fish', 9),
 (17, 11, 'crown-of-thorns', 'starfish', 21),
 (18, 12, 'sea snake', 'reptile', 3),
 (19, 13, 'octopus', 'mollusc', 1),
 (20, 14, 'parrotfish', 'fish', 52),
 (21, 15, 'manta ray', 'fish', 1);
