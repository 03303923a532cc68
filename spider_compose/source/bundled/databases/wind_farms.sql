CREATE TABLE operator (
  operator_id INTEGER PRIMARY KEY,
  operator_name TEXT NOT NULL,
  headquarters TEXT,
  founded INTEGER -- founding year
);
CREATE TABLE farm (
  farm_id INTEGER PRIMARY KEY,
  farm_name TEXT NOT NULL,
  operator_id INTEGER REFERENCES operator(operator_id),
  county TEXT,
  offshore TEXT,
  opened INTEGER -- opening year
);
CREATE TABLE turbine (
  turbine_id INTEGER PRIMARY KEY,
  farm_id INTEGER REFERENCES farm(farm_id),
  model TEXT,
  power_mw REAL, -- power in megawatts
  hub_height INTEGER,
  installed DATE -- installation date
);
CREATE TABLE outage (
  outage_id INTEGER PRIMARY KEY,
  turbine_id INTEGER REFERENCES turbine(turbine_id),
  started DATE, -- start date
  hours_down REAL,
  cause TEXT
);
INSERT INTO operator VALUES
 (1, 'Gale & Sons', 'Thornbury', 1994),
 (2, 'Nordbris', 'Esvik', 1987),
 (3, 'Skyharvest', 'Lowmarsh', 2008),
 (4, 'Vento Limpo', 'Porto Belo', 2001),
 (5, 'Moorland Power Co-op', 'Thornbury', 2013),
 (6, 'Breeze Partners', 'Lowmarsh', 2019);
INSERT INTO farm VALUES
 (1, 'Crow Moor', 1, 'Easterdale', 'no', 1999),
 (2, 'Long Bank', 2, 'Seacliff', 'yes', 2010),
 (3, 'Hag''s Head', 1, 'Seacliff', 'no', 2005),
 (4, 'Dogger Deep', 2, 'Seacliff', 'yes', 2018),
 (5, 'Lowmarsh Flats', 3, 'Fenshire', 'no', 2012),
 (6, 'Pinecrest', 4, 'Easterdale', 'no', 2007),
 (7, 'Shepherd''s Ridge', 5, 'Easterdale', 'no', 2015),
 (8, 'Gannet Shoal', 3, 'Wray', 'yes', 2021),
 (9, 'Tidewater', 4, 'Wray', 'yes', 2016),
 (10, 'Old Airfield', 5, 'Fenshire', 'no', 2019);
INSERT INTO turbine VALUES
 (1, 1, 'V47', 0.7, 55, '1999-05-12'),
 (2, 1, 'V47', 0.7, 55, '1999-05-20'),
 (3, 1, 'E70', 2.3, 85, '2011-09-01'),
 (4, 2, 'S120', 3.6, 90, '2010-06-15'),
 (5, 2, 'S120', 3.6, 90, '2010-06-30'),
 (6, 3, 'V80', 2.0, 78, '2005-03-08'),
 (7, 3, 'V80', 2.0, 78, '2005-03-22'),
 (8, 4, 'H150', 8.0, 115, '2018-07-04'),
 (9, 4, 'H150', 8.0, 115, '2018-07-19'),
 (10, 4, 'H164', 9.5, 120, '2020-05-11'),
 (11, 5, 'E70', 2.3, 85, '2012-10-02'),
 (12, 5, 'E82', 3.0, 98, '2014-04-14'),
 (13, 6, 'V80', 2.0, 67, '2007-08-27'),
 (14, 7, 'E82', 3.0, 98, '2015-11-05'),
 (15, 7, 'E82', 3.0, 78, '2015-11-17'),
 (16, 8, 'H164', 9.5, 120, '2021-09-13'),
 (17, 9, 'S120', 4.0, 95, '2016-02-29'),
 (18, 10, 'E115', 4.2, 122, '2019-12-10');
INSERT INTO outage VALUES
 (1, 1, '2021-01-17', 72.0, 'gearbox'),
 (2, 1, '2021-11-03', 18.5, 'lightning'),
 (3, 2, '2022-02-18', 140.0, 'gearbox'),
 (4, 4, '2021-06-09', 36.0, 'cable fault'),
 (5, 5, '2022-08-21', 12.0, 'inspection'),
 (6, 6, '2021-03-30', 55.5, 'blade damage'),
 (7, 8, '2022-01-29', 210.0, 'cable fault'),
 (8, 9, '2022-10-10', 24.0, 'inspection'),
 (9, 11, '2021-07-14', 9.5, 'lightning'),
 (10, 12, '2022-12-16', 31.0, 'icing'),
 (11, 13, '2021-12-24', 64.0, 'icing'),
 (12, 14, '2022-12-17', 28.0, 'icing'),
 (13, 17, '2021-04-05', 16.0, 'inspection'),
 (14, 3, '2022-05-25', 88.0, 'blade damage'),
 (15, 3, '2022-12-15', 44.0, 'icing'),
 (16, 18, '2022-09-02', 6.5, 'inspection'),
 (17, 10, '2022-11-11', NULL, 'cable fault');
