CREATE TABLE Estate (
  EstateID INTEGER PRIMARY KEY,
  EstateName TEXT NOT NULL,
  Valley TEXT,
  Hectares REAL,
  Founded INTEGER -- year founded
);
CREATE TABLE Grape (
  GrapeID INTEGER PRIMARY KEY,
  GrapeName TEXT NOT NULL,
  Colour TEXT,
  RipeningMonth TEXT
);
CREATE TABLE Wine (
  WineID INTEGER PRIMARY KEY,
  Label TEXT NOT NULL,
  EstateID INTEGER REFERENCES Estate(EstateID),
  GrapeID INTEGER REFERENCES Grape(GrapeID),
  Vintage INTEGER,
  Alcohol REAL, -- alcohol content
  BottlePrice REAL,
  BottlesMade INTEGER -- number of bottles made
);
CREATE TABLE Tasting (
  TastingID INTEGER PRIMARY KEY,
  WineID INTEGER REFERENCES Wine(WineID),
  Taster TEXT,
  TastedOn DATE, -- date tasted
  Score INTEGER
);
INSERT INTO Estate VALUES
 (1, 'Clos des Alouettes', 'Verdanne', 14.5, 1872),
 (2, 'Quinta do Moinho', 'Alvor', 32.0, 1905),
 (3, 'Hollow Oak', 'Tamsin', 8.2, 1998),
 (4, 'Domaine Perrault', 'Verdanne', 21.7, 1934),
 (5, 'Sette Colli', 'Lunara', 46.3, 1851),
 (6, 'Fox & Fern', 'Tamsin', 5.9, 2009),
 (7, 'Casa Brígida', 'Alvor', 27.4, 1967),
 (8, 'O''Malley''s Hill', 'Tamsin', 11.0, 2003),
 (9, 'Torre Vecchia', 'Lunara', 63.8, 1790),
 (10, 'Stone Terrace', 'Gedney', 3.4, 2016),
 (11, 'Peña Roja', 'Cordal', 19.3, 1978);
INSERT INTO Grape VALUES
 (1, 'Pinot Noir', 'red', 'September'),
 (2, 'Chardonnay', 'white', 'September'),
 (3, 'Syrah', 'red', 'October'),
 (4, 'Riesling', 'white', 'October'),
 (5, 'Touriga Nacional', 'red', 'September'),
 (6, 'Vermentino', 'white', 'August'),
 (7, 'Sangiovese', 'red', 'October'),
 (8, 'Alvarinho', 'white', 'September'),
 (9, 'Bacchus', 'white', 'August'),
 (10, 'Graciano', 'red', 'October');
INSERT INTO Wine VALUES
 (1, 'Alouette Grise', 1, 1, 2016, 13.0, 34.5, 9200),
 (2, 'Clos Blanc', 1, 2, 2018, 12.5, 27.0, 11000),
 (3, 'Moinho Velho', 2, 5, 2014, 14.5, 41.0, 15400),
 (4, 'Moinho Branco', 2, 8, 2019, 12.0, 13.5, 22000),
 (5, 'First Leaf', 3, 9, 2020, 11.0, 12.9, 4100),
 (6, 'Long Shadow', 3, 1, 2018, 12.5, 22.0, 3600),
 (7, 'Perrault Réserve', 4, 3, 2012, 14.0, 58.0, 5200),
 (8, 'Petit Perrault', 4, 3, 2019, 13.5, 16.5, 18700),
 (9, 'Colle Primo', 5, 7, 2015, 13.8, 29.0, 31000),
 (10, 'Colle Bianco', 5, 6, 2020, 12.2, 11.5, 27500),
 (11, 'Fernhill Fizz', 6, 2, 2019, 11.8, 31.0, 2400),
 (12, 'Brígida Tinto', 7, 5, 2017, 14.2, 18.0, 19800),
 (13, 'Brígida Gold', 7, 8, 2021, 12.6, 24.5, 6300),
 (14, 'The Parson''s Nose', 8, 9, 2021, 10.5, 14.0, 5000),
 (15, 'Vecchia Riserva', 9, 7, 2010, 14.6, 87.0, 7400),
 (16, 'Torre Rosa', 9, 7, 2021, 12.9, 10.8, 40500),
 (17, 'Salt Breeze', 9, 6, 2019, 12.1, 15.2, 24600),
 (18, 'Slate', 10, 4, 2020, 11.4, 26.0, 1500),
 (19, 'Peña Roja Tinto', 11, 3, 2018, 14.1, 21.5, 8800);
INSERT INTO Tasting VALUES
 (1, 1, 'Ingrid Holm', '2021-03-12', 91),
 (2, 1, 'Paulo Reis', '2021-04-02', 88),
 (3, 2, 'Ingrid Holm', '2021-03-12', 86),
 (4, 3, 'Paulo Reis', '2021-05-20', 94),
 (5, 3, 'Mei Tanaka', '2022-01-15', 92),
 (6, 4, 'Mei Tanaka', '2022-01-15', 79),
 (7, 5, 'Gus Applewhite', '2022-02-08', 83),
 (8, 6, 'Gus Applewhite', '2022-02-08', 87),
 (9, 7, 'Ingrid Holm', '2022-06-30', 96),
 (10, 7, 'Mei Tanaka', '2022-07-04', 93),
 (11, 7, 'Paulo Reis', '2022-07-11', 95),
 (12, 8, 'Ingrid Holm', '2022-06-30', 81),
 (13, 9, 'Mei Tanaka', '2022-09-01', 89),
 (14, 9, 'Gus Applewhite', '2022-09-17', 85),
 (15, 11, 'Gus Applewhite', '2022-12-05', 90),
 (16, 12, 'Paulo Reis', '2023-01-19', 84),
 (17, 15, 'Ingrid Holm', '2023-03-03', 97),
 (18, 15, 'Paulo Reis', '2023-03-05', 94),
 (19, 16, 'Mei Tanaka', '2023-04-21', 76),
 (20, 17, 'Mei Tanaka', '2023-04-21', 82),
 (21, 18, 'Ingrid Holm', '2023-05-30', NULL);
