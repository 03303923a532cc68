CREATE TABLE Director (
  Director_ID INTEGER PRIMARY KEY,
  Name TEXT NOT NULL,
  Nationality TEXT,
  Birth_Year INTEGER
);
CREATE TABLE Film (
  Film_ID INTEGER PRIMARY KEY,
  Title TEXT NOT NULL,
  Director_ID INTEGER REFERENCES Director(Director_ID),
  Language TEXT,
  Minutes INTEGER, -- running time in minutes
  Budget REAL -- budget in millions
);
CREATE TABLE Cinema (
  Cinema_ID INTEGER PRIMARY KEY,
  Cinema_Name TEXT NOT NULL,
  District TEXT,
  Seats INTEGER -- number of seats
);
CREATE TABLE Screening (
  Screening_ID INTEGER PRIMARY KEY,
  Film_ID INTEGER REFERENCES Film(Film_ID),
  Cinema_ID INTEGER REFERENCES Cinema(Cinema_ID),
  Show_Date DATE,
  Tickets_Sold INTEGER,
  Has_Discussion TEXT -- followed by a discussion
);
CREATE TABLE Award (
  Award_ID INTEGER PRIMARY KEY,
  Film_ID INTEGER REFERENCES Film(Film_ID),
  Award_Name TEXT,
  Prize_Money INTEGER
);
INSERT INTO Director VALUES
 (1, 'Ilse Brandt', 'German', 1964),
 (2, 'Kofi Mensah', 'Ghanaian', 1980),
 (3, 'Aurélie Dumas', 'French', 1975),
 (4, 'Takumi Hara', 'Japanese', 1951),
 (5, 'Paloma Reyes', 'Chilean', 1988),
 (6, 'Declan O''Byrne', 'Irish', 1971),
 (7, 'Nadia Karim', 'French', 1992),
 (8, 'Stellan Voss', 'German', 1959),
 (9, 'Min-ji Seo', 'Korean', 1985);
INSERT INTO Film VALUES
 (1, 'The Salt Road', 1, 'German', 124, 6.5),
 (2, 'Harmattan', 2, 'Twi', 98, 1.2),
 (3, 'Les Heures Bleues', 3, 'French', 111, 4.8),
 (4, 'A Kettle for Two', 4, 'Japanese', 87, 2.0),
 (5, 'Atacama', 5, 'Spanish', 135, 3.4),
 (6, 'The Ferryman''s Wake', 6, 'English', 102, 5.1),
 (7, 'Quiet Engines', 1, 'English', 93, 7.9),
 (8, 'Passage Nord', 7, 'French', 79, 0.6),
 (9, 'Winterkorn', 8, 'German', 148, 9.7),
 (10, 'Paper Lanterns', 4, 'Japanese', 105, 3.3),
 (11, 'Second Harvest', 2, 'English', 91, NULL),
 (12, 'Night Market', 9, 'Korean', 117, 4.0),
 (13, 'Marée Haute', 3, 'French', 66, 0.9),
 (14, 'Turf', 6, 'English', 12, 0.1),
 (15, 'Jardins ouvriers', 7, 'French', 95, 0.7);
INSERT INTO Cinema VALUES
 (1, 'Odeon Grand', 'Centre', 480),
 (2, 'The Little Reel', 'Old Town', 75),
 (3, 'Lumière', 'Centre', 210),
 (4, 'Dockside Screen', 'Harbour', 160),
 (5, 'Rex', 'Old Town', 320),
 (6, 'Harbour Barn', 'Harbour', 48);
INSERT INTO Screening VALUES
 (1, 1, 1, '2023-10-05', 455, 'yes'),
 (2, 1, 3, '2023-10-08', 187, 'no'),
 (3, 2, 2, '2023-10-06', 75, 'yes'),
 (4, 3, 3, '2023-10-06', 202, 'yes'),
 (5, 3, 5, '2023-10-09', 144, 'no'),
 (6, 4, 2, '2023-10-07', 61, 'no'),
 (7, 5, 5, '2023-10-07', 238, 'yes'),
 (8, 6, 4, '2023-10-08', 155, 'yes'),
 (9, 6, 6, '2023-10-10', 48, 'no'),
 (10, 7, 1, '2023-10-09', 391, 'no'),
 (11, 8, 6, '2023-10-05', 22, 'yes'),
 (12, 9, 1, '2023-10-11', 402, 'yes'),
 (13, 9, 5, '2023-10-12', 96, 'no'),
 (14, 10, 3, '2023-10-12', 119, 'no'),
 (15, 11, 4, '2023-10-11', 83, 'no'),
 (16, 12, 5, '2023-10-13', 305, 'yes'),
 (17, 12, 1, '2023-10-14', 470, 'no'),
 (18, 14, 2, '2023-10-14', 39, 'no'),
 (19, 15, 6, '2023-10-13', 31, 'no');
INSERT INTO Award VALUES
 (1, 12, 'Golden Reel', 25000),
 (2, 3, 'Jury Prize', 10000),
 (3, 5, 'Best Photography', 5000),
 (4, 2, 'First Feature', 8000),
 (5, 12, 'Audience Award', 6000),
 (6, 6, 'Best Screenplay', 5500),
 (7, 14, 'Best Short', 2500),
 (8, 9, 'Best Score', NULL),
 (9, 3, 'Critics'' Choice', 3000);
