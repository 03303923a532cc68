CREATE TABLE telescope (
  telescope_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT,
  aperture_m REAL, -- aperture in metres
  first_light INTEGER -- year of first light
);
CREATE TABLE astronomer (
  astronomer_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  institute TEXT,
  field TEXT
);
CREATE TABLE target (
  target_id INTEGER PRIMARY KEY,
  designation TEXT NOT NULL,
  class TEXT,
  constellation TEXT,
  distance_ly REAL, -- distance in light years
  magnitude REAL
);
CREATE TABLE observation (
  observation_id INTEGER PRIMARY KEY,
  telescope_id INTEGER REFERENCES telescope(telescope_id),
  astronomer_id INTEGER REFERENCES astronomer(astronomer_id),
  target_id INTEGER REFERENCES target(target_id),
  night DATE,
  exposure_minutes REAL,
  seeing REAL
);
INSERT INTO telescope VALUES
 (1, 'Big Aldo', 'reflector', 3.6, 1984),
 (2, 'Little Aldo', 'reflector', 1.2, 1971),
 (3, 'Meridian Circle', 'refractor', 0.25, 1908),
 (4, 'Whisper', 'radio', 26.0, 1996),
 (5, 'Survey Twin', 'astrograph', 0.9, 2017),
 (6, 'The Duke''s Glass', 'refractor', 0.4, 1889),
 (7, 'Lynx', 'reflector', 2.5, 2009);
INSERT INTO astronomer VALUES
 (1, 'Beatrix Lomond', 'Carrow Observatory', 'galaxies'),
 (2, 'Hideo Arai', 'Nagoya Sky Lab', 'exoplanets'),
 (3, 'Solveig Dahlen', 'Carrow Observatory', 'variable stars'),
 (4, 'Ramon Ibarra', 'Instituto Austral', 'nebulae'),
 (5, 'Chidi Eze', 'Lagos Space Centre', 'pulsars'),
 (6, 'Moira O''Neil', 'Carrow Observatory', 'exoplanets'),
 (7, 'Kaspar Blum', 'Instituto Austral', 'galaxies'),
 (8, 'Anjali Desai', 'Pune Astrophysics', NULL);
INSERT INTO target VALUES
 (1, 'CW-114', 'galaxy', 'Lyra', 21000000.0, 11.4),
 (2, 'CW-220', 'galaxy', 'Cetus', 47000000.0, 12.9),
 (3, 'Ember Nebula', 'nebula', 'Cygnus', 2400.0, 6.8),
 (4, 'HR-77b', 'exoplanet', 'Lyra', 92.5, NULL),
 (5, 'Tau-9', 'variable star', 'Taurus', 410.0, 5.2),
 (6, 'PSR-0417', 'pulsar', 'Perseus', 6300.0, 17.6),
 (7, 'Swan''s Veil', 'nebula', 'Cygnus', 1500.0, 7.3),
 (8, 'HR-102c', 'exoplanet', 'Cetus', 38.2, NULL),
 (9, 'Delta-31', 'variable star', 'Lyra', 820.0, 8.1),
 (10, 'CW-305', 'galaxy', 'Perseus', 63000000.0, 13.7),
 (11, 'PSR-1183', 'pulsar', 'Taurus', 11800.0, 19.2);
INSERT INTO observation VALUES
 (1, 1, 1, 1, '2022-01-11', 240.0, 0.8),
 (2, 1, 1, 2, '2022-01-12', 310.0, 1.1),
 (3, 2, 3, 5, '2022-01-12', 35.0, 1.6),
 (4, 7, 2, 4, '2022-02-20', 420.0, 0.7),
 (5, 4, 5, 6, '2022-03-03', 600.0, NULL),
 (6, 5, 4, 3, '2022-03-15', 90.0, 1.3),
 (7, 3, 3, 5, '2022-04-01', 20.0, 2.4),
 (8, 2, 3, 9, '2022-04-02', 45.0, 1.5),
 (9, 7, 6, 8, '2022-05-19', 380.0, 0.9),
 (10, 1, 7, 10, '2022-09-28', 295.0, 0.6),
 (11, 5, 4, 7, '2022-10-08', 110.0, 1.2),
 (12, 4, 5, 11, '2022-11-14', 720.0, NULL),
 (13, 7, 2, 8, '2023-01-09', 450.0, 1.0),
 (14, 1, 6, 4, '2023-01-22', 365.0, 0.5),
 (15, 5, 1, 1, '2023-02-17', 75.0, 1.4),
 (16, 2, 7, 2, '2023-03-26', 130.0, 1.7),
 (17, 3, 3, 9, '2023-04-11', 25.0, 2.1),
 (18, 7, 4, 3, '2023-08-13', 205.0, 0.8);
