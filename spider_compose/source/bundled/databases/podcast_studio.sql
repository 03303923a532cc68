CREATE TABLE Host (
  HostID INTEGER PRIMARY KEY,
  HostName TEXT NOT NULL,
  City TEXT,
  YearsOnAir INTEGER
);
CREATE TABLE Podcast (
  PodcastID INTEGER PRIMARY KEY,
  PodcastName TEXT NOT NULL,
  Topic TEXT,
  HostID INTEGER REFERENCES Host(HostID),
  LaunchYear INTEGER,
  Subscribers INTEGER
);
CREATE TABLE Episode (
  EpisodeID INTEGER PRIMARY KEY,
  PodcastID INTEGER REFERENCES Podcast(PodcastID),
  Title TEXT,
  Released DATE, -- release date
  Minutes REAL, -- length in minutes
  Downloads INTEGER
);
CREATE TABLE Sponsor (
  SponsorID INTEGER PRIMARY KEY,
  Company TEXT NOT NULL,
  Industry TEXT
);
CREATE TABLE Sponsorship (
  EpisodeID INTEGER REFERENCES Episode(EpisodeID),
  SponsorID INTEGER REFERENCES Sponsor(SponsorID),
  Amount REAL,
  PRIMARY KEY (EpisodeID, SponsorID)
);
INSERT INTO Host VALUES
 (1, 'Imani Clarke', 'Bristow', 7),
 (2, 'Leo Marchetti', 'Kingsferry', 3),
 (3, 'Saoirse Byrne', 'Bristow', 11),
 (4, 'Viktor Hahn', 'Ostend Vale', 2),
 (5, 'Dana Whitfield', 'Kingsferry', 9),
 (6, 'Noor Rahman', 'Bristow', 1),
 (7, 'Gil Avery', 'Tolland', 5);
INSERT INTO Podcast VALUES
 (1, 'Bones & Brushes', 'archaeology', 1, 2018, 42000),
 (2, 'Second Serve', 'sport', 2, 2021, 15500),
 (3, 'What''s in the Attic?', 'history', 3, 2015, 88000),
 (4, 'Cold Lasagne', 'food', 5, 2019, 61200),
 (5, 'Kernel Panic', 'technology', 4, 2022, 9300),
 (6, 'The Long Lock-In', 'history', 3, 2020, 27400),
 (7, 'Off Season', 'sport', 5, 2017, 33100),
 (8, 'Patch Notes', 'technology', 4, 2023, NULL),
 (9, 'Slow Roads', 'travel', 1, 2022, 18700),
 (10, 'Crumbs of Comfort', 'food', 1, 2020, 12100);
INSERT INTO Episode VALUES
 (1, 1, 'The Bog Queen', '2023-02-01', 48.5, 30200),
 (2, 1, 'Dust to Dust', '2023-03-01', 52.0, 28800),
 (3, 2, 'Clay Feet', '2023-05-28', 33.0, 9900),
 (4, 2, 'Grass Stains', '2023-07-10', 37.5, 14100),
 (5, 3, 'Grandad''s Medals', '2023-01-15', 61.0, 71500),
 (6, 3, 'Letters from Port Said', '2023-04-15', 66.5, 69300),
 (7, 3, 'A Box of Keys', '2023-08-15', 58.0, 75800),
 (8, 4, 'Stock Answers', '2023-02-20', 29.0, 40700),
 (9, 4, 'Salt, Fat, Tantrums', '2023-06-20', 31.5, 52600),
 (10, 5, 'Off by One', '2023-03-09', 74.0, 6100),
 (11, 5, 'Merge Conflict', '2023-09-09', 81.5, 8800),
 (12, 6, 'Gin Lane', '2023-05-05', 44.0, 19200),
 (13, 6, 'Dry Counties', '2023-10-06', 46.0, 21900),
 (14, 7, 'Mud and Boots', '2023-11-11', 39.0, 24400),
 (15, 9, 'Night Train North', '2023-07-01', 55.0, 16000),
 (16, 9, 'The Wrong Ferry', '2023-12-01', 57.5, NULL),
 (17, 10, 'Burnt Offerings', '2023-06-02', 27.0, 8300);
INSERT INTO Sponsor VALUES
 (1, 'Mattress Republic', 'furniture'),
 (2, 'Brew Hatch', 'drinks'),
 (3, 'Codely', 'software'),
 (4, 'Fjord & Fell', 'outdoor clothing'),
 (5, 'Pantry Post', 'food'),
 (6, 'Ledgerly', 'software'),
 (7, 'Hobbs'' Hardware', 'tools');
INSERT INTO Sponsorship VALUES
 (1, 1, 900.0), (2, 4, 750.0), (4, 2, 400.0), (5, 1, 2200.0), (5, 2, 1800.0), (6, 6, 1500.0), (7, 1, 2350.0),
 (8, 5, 1250.0), (9, 5, 1400.0), (9, 2, 1100.0), (10, 3, 600.0), (11, 3, 650.0), (11, 6, 500.0),
 (12, 2, 700.0), (13, 2, 720.0), (14, 4, 980.0), (15, 4, 560.0);
