CREATE TABLE collector (
  collector_id INTEGER PRIMARY KEY,
  collector_name TEXT NOT NULL,
  institute TEXT,
  country TEXT
);
CREATE TABLE species (
  species_id INTEGER PRIMARY KEY,
  common_name TEXT NOT NULL,
  latin_name TEXT,
  plant_family TEXT,
  threat_level TEXT
);
CREATE TABLE accession ( -- seed sample
  accession_id INTEGER PRIMARY KEY,
  species_id INTEGER REFERENCES species(species_id),
  collector_id INTEGER REFERENCES collector(collector_id),
  collected_on DATE, -- collection date
  altitude_m INTEGER, -- altitude in metres
  seed_count INTEGER, -- number of seeds
  vault TEXT
);
CREATE TABLE germination_test (
  test_id INTEGER PRIMARY KEY,
  accession_id INTEGER REFERENCES accession(accession_id),
  tested_on DATE, -- test date
  temperature REAL,
  germination_rate REAL
);
INSERT INTO collector VALUES
 (1, 'Leila Farouk', 'Desert Flora Institute', 'Egypt'),
 (2, 'Anders Kvist', 'Arctic Gardens', 'Norway'),
 (3, 'Maria Quispe', 'Highland Crops Centre', 'Peru'),
 (4, 'Rory D''Arcy', 'Kilbride Botanic Garden', 'Ireland'),
 (5, 'Chen Wei', 'Loess Plateau Station', 'China'),
 (6, 'Amina Yusuf', 'Sahel Seed Network', 'Niger'),
 (7, 'Bruno Salvi', 'Alpine Herbarium', 'Italy'),
 (8, 'Tova Lindgren', 'Arctic Gardens', 'Norway');
INSERT INTO species VALUES
 (1, 'bog cotton', 'Eriophorum angustifolium', 'Cyperaceae', 'low'),
 (2, 'edelweiss', 'Leontopodium nivale', 'Asteraceae', 'medium'),
 (3, 'quinoa', 'Chenopodium quinoa', 'Amaranthaceae', 'low'),
 (4, 'pearl millet', 'Cenchrus americanus', 'Poaceae', 'low'),
 (5, 'lady''s slipper', 'Cypripedium calceolus', 'Orchidaceae', 'high'),
 (6, 'arctic poppy', 'Papaver radicatum', 'Papaveraceae', 'medium'),
 (7, 'wild einkorn', 'Triticum boeoticum', 'Poaceae', 'medium'),
 (8, 'snow gentian', 'Gentiana nivalis', 'Gentianaceae', 'high'),
 (9, 'desert hyacinth', 'Cistanche tubulosa', 'Orobanchaceae', 'high'),
 (10, 'foxtail millet', 'Setaria italica', 'Poaceae', 'low'),
 (11, 'alpine aster', 'Aster alpinus', 'Asteraceae', 'low'),
 (12, 'ghost orchid', 'Epipogium aphyllum', 'Orchidaceae', 'critical');
INSERT INTO accession VALUES
 (101, 1, 4, '2011-08-14', 45, 12000, 'A'),
 (102, 1, 2, '2013-08-30', 310, 8800, 'A'),
 (103, 2, 7, '2012-07-22', 2140, 950, 'B'),
 (104, 3, 3, '2010-05-03', 3820, 26000, 'A'),
 (105, 3, 3, '2016-05-18', 3655, 31500, 'C'),
 (106, 4, 6, '2014-10-09', 280, 18000, 'C'),
 (107, 5, 7, '2015-06-27', 1130, 400, 'B'),
 (108, 6, 2, '2013-08-11', 690, 2300, 'B'),
 (109, 6, 8, '2019-08-04', 540, 3100, 'B'),
 (110, 7, 1, '2012-06-01', 870, 5400, 'A'),
 (111, 8, 7, '2017-08-19', 2480, 620, 'B'),
 (112, 9, 1, '2018-03-15', 60, 210, NULL),
 (113, 10, 5, '2016-09-25', 1210, 22500, 'C'),
 (114, 10, 6, '2019-10-12', 305, 14200, 'C'),
 (115, 11, 7, '2017-08-20', 1990, 1750, 'A'),
 (116, 2, 7, '2020-07-30', 2305, 1320, 'B'),
 (117, 4, 6, '2021-10-02', 265, 20100, 'C');
INSERT INTO germination_test VALUES
 (1, 101, '2014-03-01', 15.0, 81.5),
 (2, 101, '2019-03-01', 15.0, 74.0),
 (3, 102, '2016-02-11', 12.5, 68.2),
 (4, 103, '2015-04-20', 10.0, 55.0),
 (5, 104, '2013-01-15', 22.0, 96.4),
 (6, 104, '2018-01-15', 22.0, 92.1),
 (7, 105, '2019-01-20', 22.0, 97.3),
 (8, 106, '2017-05-05', 28.0, 88.8),
 (9, 107, '2018-09-09', 18.0, 12.5),
 (10, 108, '2016-06-30', 8.0, 61.7),
 (11, 109, '2022-06-30', 8.0, 70.9),
 (12, 110, '2015-11-02', 16.0, 90.2),
 (13, 111, '2020-10-18', 9.0, 33.4),
 (14, 113, '2019-04-04', 26.0, 94.0),
 (15, 114, '2022-04-07', 26.0, 86.6),
 (16, 115, '2020-10-18', 14.0, 71.1),
 (17, 116, '2023-01-09', 10.0, 49.5),
 (18, 101, '2023-03-03', 18.0, 66.3);
