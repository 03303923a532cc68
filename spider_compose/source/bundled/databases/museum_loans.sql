CREATE TABLE Museum (
  Museum_ID INTEGER PRIMARY KEY,
  Museum_Name TEXT NOT NULL,
  City TEXT,
  Country TEXT,
  Visitors INTEGER -- yearly visitors
);
CREATE TABLE Artist (
  Artist_ID INTEGER PRIMARY KEY,
  Artist_Name TEXT NOT NULL,
  Movement TEXT,
  Born INTEGER, -- year of birth
  Died INTEGER -- year of death
);
CREATE TABLE Artwork (
  Artwork_ID INTEGER PRIMARY KEY,
  Title TEXT NOT NULL,
  Artist_ID INTEGER REFERENCES Artist(Artist_ID),
  Owner_ID INTEGER REFERENCES Museum(Museum_ID), -- owning museum
  Medium TEXT,
  Year_Made INTEGER,
  Insured_Value REAL -- insured value in thousands
);
CREATE TABLE Loan (
  Loan_ID INTEGER PRIMARY KEY,
  Artwork_ID INTEGER REFERENCES Artwork(Artwork_ID),
  Borrower_ID INTEGER REFERENCES Museum(Museum_ID), -- borrowing museum
  Start_Date DATE,
  Months INTEGER, -- length in months
  Courier TEXT
);
INSERT INTO Museum VALUES
 (1, 'Galerie Nordstern', 'Lübben', 'Germany', 310000),
 (2, 'Museo del Faro', 'Corvera', 'Spain', 145000),
 (3, 'The Whitcombe', 'Bath Royal', 'England', 520000),
 (4, 'Kunsthal Havn', 'Ribe', 'Denmark', 98000),
 (5, 'Palazzo Arnolfi', 'Lucca', 'Italy', 265000),
 (6, 'St. Olaf''s Collection', 'Ribe', 'Denmark', 41000),
 (7, 'Tidemill Gallery', 'Whitsand', 'England', 63000),
 (8, 'Casa Miró Vell', 'Corvera', 'Spain', NULL);
INSERT INTO Artist VALUES
 (1, 'Greta Aulin', 'Impressionism', 1852, 1911),
 (2, 'Tomás Rivera', 'Cubism', 1889, 1962),
 (3, 'Eleanor Finch', 'Pre-Raphaelite', 1838, 1899),
 (4, 'Jens Hammer', 'Impressionism', 1860, 1934),
 (5, 'Lucia d''Amico', 'Baroque', 1611, 1675),
 (6, 'Otto Kranz', 'Expressionism', 1884, 1945),
 (7, 'Imogen Hale', 'Abstract', 1931, NULL),
 (8, 'Pau Ferrer', 'Cubism', 1893, 1970),
 (9, 'Ludvig Skov', 'Abstract', 1948, NULL),
 (10, 'Berta Kloss', 'Constructivism', 1899, 1968);
INSERT INTO Artwork VALUES
 (1, 'Morning at the Lock', 1, 1, 'oil', 1887, 2400.0),
 (2, 'Guitar and Pear', 2, 2, 'oil', 1914, 5200.0),
 (3, 'Ophelia''s Sister', 3, 3, 'oil', 1866, 3100.0),
 (4, 'Skagen Light', 4, 4, 'pastel', 1895, 870.0),
 (5, 'Judith Waiting', 5, 5, 'oil', 1649, 9800.0),
 (6, 'The Red Tram', 6, 1, 'woodcut', 1919, 640.0),
 (7, 'Chalk Form IV', 7, 3, 'bronze', 1972, 1500.0),
 (8, 'Harlequin Asleep', 8, 2, 'gouache', 1925, 1150.0),
 (9, 'Haystacks, Rain', 1, 4, 'oil', 1890, 3300.0),
 (10, 'Study of Hands', 5, 5, 'chalk', 1640, 410.0),
 (11, 'City Without Sleep', 6, 1, 'oil', 1922, 4700.0),
 (12, 'Tide Table', 7, 7, 'watercolour', 1988, 95.0),
 (13, 'White Nights', 9, 6, 'oil', 1999, 180.0),
 (14, 'Still Life with Pipe', 2, 3, 'collage', 1913, 2650.0),
 (15, 'The Fishwives', 4, 6, 'oil', 1901, 1020.0),
 (16, 'Ratchet', 10, 7, 'bronze', 1931, 320.0);
INSERT INTO Loan VALUES
 (1, 1, 3, '2019-03-01', 6, 'Artex'),
 (2, 2, 1, '2019-09-15', 4, 'Artex'),
 (3, 5, 3, '2020-01-10', 9, 'Fine & Safe'),
 (4, 9, 1, '2020-02-20', 5, 'Nordfrakt'),
 (5, 4, 3, '2021-04-05', 3, 'Nordfrakt'),
 (6, 8, 5, '2021-05-18', 8, 'Artex'),
 (7, 3, 7, '2021-10-01', 2, 'Fine & Safe'),
 (8, 11, 2, '2022-01-25', 7, 'Artex'),
 (9, 6, 4, '2022-03-30', 4, 'Nordfrakt'),
 (10, 1, 4, '2022-06-12', 5, 'Nordfrakt'),
 (11, 14, 2, '2022-09-09', 10, 'Fine & Safe'),
 (12, 9, 3, '2023-02-14', 12, 'Artex'),
 (13, 2, 5, '2023-03-21', 6, NULL),
 (14, 15, 1, '2023-05-02', 3, 'Nordfrakt'),
 (15, 7, 1, '2023-07-07', 5, 'Fine & Safe'),
 (16, 11, 3, '2023-09-01', 8, 'Artex');
